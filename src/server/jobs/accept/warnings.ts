/** Warnings: the job prints, but perhaps not as meant. A validation lists them, an accepted job has their counts. */
import { LRUCache } from 'lru-cache';
import { printsPages } from '../../../../drivers/languages/index.ts';
import type { ValidationResult } from '../../../contract/admin.ts';
import type { PrinterFormat } from '../../../contract/format.ts';
import { misfit } from '../../../contract/media-fit.ts';
import type { PrintRequest } from '../../../contract/print-request.ts';
import { because, type Reason, reasonText } from '../../../contract/reason.ts';
import type { Template } from '../../../contract/template.ts';
import { type CheckPool, CheckStopped } from '../../../rendering/check-pool.ts';
import type { PlacementCheck } from '../../../rendering/check-protocol.ts';
import type { RawMedia, RawPlacementFault } from '../../../zpl/raw/placement.ts';
import { shorten } from '../../problems.ts';
import { inStretches, type Long } from '../../stretches.ts';
import { fieldsOf } from '../../templates/record-fields.ts';

type Warning = ValidationResult['warnings'][number];

/** How many warnings there are of each kind. */
export type WarningCounts = ReadonlyMap<Warning['code'], number>;

/** ms that the check of where a raw ZPL template prints may run. */
const RUN = 2_000;

/** What a validation lists at most, and the ms that it waits for a thread. */
export const LISTED = { most: 1_000, wait: 1_000 };
/** For a job that is to be accepted. It hardly waits: what a busy service leaves out, a validation tells. */
export const COUNTED = { most: 0, wait: 50 };

/** As the header `Platen-Warnings` has them: a dictionary of RFC 9651, with a number for each code. */
export function warningsHeader(counts: WarningCounts): string {
  return [...counts].map(([code, count]) => `${code}=${count}`).join(', ');
}

/** @param bounds the most warnings that are listed, and ms that the check of a raw template waits for its turn */
export async function warningsFor(
  checks: CheckPool,
  tenantId: string,
  template: Template,
  request: PrintRequest,
  format: PrinterFormat,
  { most, wait }: { most: number; wait: number },
): Promise<{ warnings: Warning[]; counts: WarningCounts }> {
  const counts = new Map<Warning['code'], number>();
  const count = (code: Warning['code'], more: number) => {
    if (more > 0) counts.set(code, (counts.get(code) ?? 0) + more);
  };
  // The records may have millions of warnings; only those that are listed are made.
  const warnings: Warning[] = [
    ...sizeWarnings(template, request, format),
    ...(await placementWarnings(checks, tenantId, template, format, wait)),
  ];
  for (const { code } of warnings) count(code, 1);

  const fields = fieldsOf(template);
  const known = new Set(fields);
  const defaults = new Set(
    template.fields.filter((field) => field.default !== undefined).map((field) => field.name),
  );
  const records = request.data ?? [{}];
  const namesOf = function* (): Long<void> {
    for (const [index, record] of records.entries()) {
      const names = Object.keys(record);
      const unknown = names.filter((name) => !known.has(name));
      const missing = fields.length - (names.length - unknown.length);
      count('field-missing', missing);
      count('field-unknown', unknown.length);
      yield;
      if (missing + unknown.length === 0 || warnings.length >= most) continue;
      const where = request.data === undefined ? {} : { record: index };
      for (const field of fields.filter((name) => !Object.hasOwn(record, name))) {
        const said = because(defaults.has(field) ? 'record-field-missing' : 'record-field-empty', {});
        warnings.push({ ...warning('field-missing', said), ...where, field });
      }
      for (const field of unknown) {
        const said = because('record-field-unknown', { field: shorten(field) });
        warnings.push({ ...warning('field-unknown', said), ...where, field });
      }
    }
  };
  await inStretches(namesOf(), records.length);
  return { warnings: warnings.slice(0, most), counts };
}

function warning(code: Warning['code'], reason: Reason): Warning {
  return { code, message: reasonText(reason), reason };
}

function* sizeWarnings(template: Template, request: PrintRequest, format: PrinterFormat): Generator<Warning> {
  if (template.dpi !== undefined && template.dpi !== format.dpi) {
    yield warning('size-mismatch', because('made-for-dpi', { designed: template.dpi, format: format.dpi }));
  }
  const size = misfit(template, request.orientation, format, printsPages(format.language));
  if (size !== undefined) yield warning('size-mismatch', size);
}

/** By template, and in it by media: a template that is kept is checked once. */
const placements = new WeakMap<Template, LRUCache<string, readonly RawPlacementFault[]>>();
/** Media of one template. */
const MOST_MEDIA = 20;

async function placementWarnings(
  checks: CheckPool,
  tenantId: string,
  template: Template,
  format: PrinterFormat,
  wait: number,
): Promise<readonly Warning[]> {
  if (template.language !== 'zpl') return [];
  // In a format of another language the template is drawn at the resolution and size that it was written for.
  const own: RawMedia = format.language === 'zpl' ? {} : template;
  const { dpi = format.dpi, width = format.width, height = format.height } = own;
  const kept = placements.get(template) ?? new LRUCache({ max: MOST_MEDIA });
  placements.set(template, kept);
  const media = { dpi, width, height };
  const known = kept.get(JSON.stringify(media));
  const faults =
    known ?? (await placementFaults(checks, tenantId, { kind: 'placement', template, media }, wait));
  if (faults !== undefined) kept.set(JSON.stringify(media), faults);
  return (faults ?? []).map(({ code, reason }) => warning(code, reason));
}

/** Undefined: not known, but the next job may find out. */
async function placementFaults(
  checks: CheckPool,
  tenantId: string,
  check: PlacementCheck,
  wait: number,
): Promise<readonly RawPlacementFault[] | undefined> {
  try {
    return await checks.run(tenantId, check, { wait, run: RUN, byClock: true });
  } catch (error) {
    if (!(error instanceof CheckStopped)) throw error;
    // A check that takes too long would take too long for the next job as well.
    return error.reason === 'deadline' || error.reason === 'memory' ? [] : undefined;
  }
}
