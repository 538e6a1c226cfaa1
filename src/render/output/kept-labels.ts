/**
 * Keeps compiled labels for later jobs that use the same template object. A compiled label holds pictures and laid out texts,
 * so the garbage collector decides how long it is kept. A label that prints something about its job (the time, a number) is not
 * kept.
 */
import type { DesignedTemplate } from '../../contract/template.ts';
import type { JobFacts } from '../../values/built-ins.ts';
import { type CompiledLabel, compileLabel, type LabelTarget } from '../label-layout.ts';

/** The most combinations of resolution and orientation kept for a template. */
const MOST_TARGETS = 4;
/** A placeholder that Platen itself fills in, as it looks in JSON, where blanks in the braces may be written as escapes. */
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
