/**
 * Keeps compiled labels for successive jobs that use the same template object. A compiled label holds
 * pictures and laid out texts, so the garbage collector decides how long it is kept. Labels that print
 * something about their job (the time, a number) are not kept.
 */
import type { DesignedTemplate } from '../../contract/template.ts';
import type { JobFacts } from '../../values/built-ins.ts';
import { type CompiledLabel, compileLabel, type LabelTarget } from '../label-layout.ts';

/** The most combinations of resolution and orientation kept for a template. */
const MOST_TARGETS = 4;
/** In JSON, where blanks in the braces may be escapes: a placeholder for what Platen itself fills in. */
const BUILT_IN = /\{\{[^{}]*\$/;

/** By template, by target. */
const kept = new WeakMap<DesignedTemplate, Map<string, WeakRef<CompiledLabel>>>();

/** Like `compileLabel`, but reuses a kept label. @throws JobFaultError as `compileLabel` */
export async function keptLabel(
  template: DesignedTemplate,
  target: LabelTarget & { job: JobFacts },
): Promise<CompiledLabel> {
  const key = `${target.dpi} ${target.orientation}`;
  const labels = kept.get(template) ?? new Map<string, WeakRef<CompiledLabel>>();
  const known = labels.get(key)?.deref();
  if (known !== undefined) return known;
  const made = await compileLabel(template, target);
  const hasRoom = labels.size < MOST_TARGETS || labels.has(key);
  if (hasRoom && !BUILT_IN.test(JSON.stringify(template.elements))) {
    kept.set(template, labels.set(key, new WeakRef(made)));
  }
  return made;
}
