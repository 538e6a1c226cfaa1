/** Warnings of a validation: the job would print, but perhaps not as meant. */
import { printsPages } from '../../../../drivers/languages/index.ts';
import type { ValidationResult } from '../../../contract/admin.ts';
import type { PrinterFormat } from '../../../contract/format.ts';
import type { PrintRequest } from '../../../contract/print-request.ts';
import { because, type Reason, reasonText } from '../../../contract/reason.ts';
import { mediaOf } from '../../../contract/sheet.ts';
import type { Template } from '../../../contract/template.ts';
import { templateFields } from '../../../render/template-fields.ts';
import { type CheckPool, CheckStopped } from '../../../rendering/check-pool.ts';
import type { RawMedia } from '../../../zpl/raw/placement.ts';
import { shorten } from '../../problems.ts';
import { inStretches, type Long } from '../../stretches.ts';

type Warning = ValidationResult['warnings'][number];

/** Most warnings that one answer lists; `warningCount` tells how many there are. */
const MAX_WARNINGS = 1_000;
/** mm by which label and media may differ without a warning. */
const SIZE_TOLERANCE = 1;

/** ms for checking where a raw ZPL template prints: to wait for a thread, and to run. */
const TIMES = { wait: 1_000, run: 2_000 };

export async function warningsFor(
  checks: CheckPool,
  tenantId: string,
  template: Template,
  request: PrintRequest,
  format: PrinterFormat,
): Promise<{ warnings: Warning[]; warningCount: number }> {
  const warnings: Warning[] = [];
  let warningCount = 0;
  // There may be millions of warnings; only those that are listed are made.
  const warn = (make: () => Warning) => {
    warningCount += 1;
    if (warnings.length < MAX_WARNINGS) warnings.push(make());
  };
  for (const warning of sizeWarnings(template, request, format)) warn(() => warning);
  for (const warning of await placementWarnings(checks, tenantId, template, format)) warn(() => warning);

  const fields = templateFields(template);
  const known = new Set(fields);
  const defaults = new Set(
    template.fields.filter((field) => field.default !== undefined).map((field) => field.name),
  );
  const records = request.data ?? [{}];
  const namesOf = function* (): Long<void> {
    for (const [index, record] of records.entries()) {
      const where = request.data === undefined ? {} : { record: index };
      for (const field of fields) {
        if (Object.hasOwn(record, field)) continue;
        const missing = defaults.has(field) ? 'record-field-missing' : 'record-field-empty';
        warn(() => ({ ...warning('field-missing', because(missing, {})), ...where, field }));
      }
      for (const field of Object.keys(record)) {
        if (known.has(field)) continue;
        const unknown = because('record-field-unknown', { field: shorten(field) });
        warn(() => ({ ...warning('field-unknown', unknown), ...where, field }));
      }
      yield;
    }
  };
  await inStretches(namesOf(), records.length);
  return { warnings, warningCount };
}

function warning(code: Warning['code'], reason: Reason): Warning {
  return { code, message: reasonText(reason), reason };
}

function* sizeWarnings(template: Template, request: PrintRequest, format: PrinterFormat): Generator<Warning> {
  if (template.dpi !== undefined && template.dpi !== format.dpi) {
    yield warning('size-mismatch', because('made-for-dpi', { designed: template.dpi, format: format.dpi }));
  }
  const media = mediaOf(template, printsPages(format.language));
  if (media.width === undefined || media.height === undefined) return;
  const [width, height] =
    request.orientation === 'portrait' ? [media.width, media.height] : [media.height, media.width];
  if (Math.abs(width - format.width) <= SIZE_TOLERANCE && Math.abs(height - format.height) <= SIZE_TOLERANCE)
    return;
  const sizes = { width, height, mediaWidth: format.width, mediaHeight: format.height };
  const turned = media.what === 'sheet' ? 'sheet-turned-mismatch' : 'label-turned-mismatch';
  yield warning('size-mismatch', because(turned, sizes));
}

async function placementWarnings(
  checks: CheckPool,
  tenantId: string,
  template: Template,
  format: PrinterFormat,
): Promise<readonly Warning[]> {
  if (template.language !== 'zpl') return [];
  // In a format of another language the template is drawn at the resolution and size that it was written for.
  const own: RawMedia = format.language === 'zpl' ? {} : template;
  const { dpi = format.dpi, width = format.width, height = format.height } = own;
  try {
    const faults = await checks.placement(tenantId, { template, media: { dpi, width, height } }, TIMES);
    return faults.map(({ code, reason }) => warning(code, reason));
  } catch (error) {
    if (error instanceof CheckStopped) return [];
    throw error;
  }
}
