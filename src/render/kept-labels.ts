/**
 * Labels that are compiled once for jobs in a row that bring the same template object along. They hold pictures, and texts
 * that were laid out: how long they are kept is up to the garbage collector. Not kept is what says something of its job (the
 * time, a number).
 */
import type { DesignedTemplate } from '../contract/template.ts';
import type { JobFacts } from '../values/built-ins.ts';
import { type CompiledLabel, compileLabel, type LabelTarget } from './label-layout.ts';

/** For each template: resolutions and orientations. */
const MOST_TARGETS = 4;
/** A placeholder for what Platen itself fills in. */
const BUILT_IN = /\{\{\s*\$/;

/** By template, by target. */
const kept = new WeakMap<DesignedTemplate, Map<string, WeakRef<CompiledLabel>>>();

/** As `compileLabel`. @throws JobFaultError as `compileLabel` */
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
