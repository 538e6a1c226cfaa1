/**
 * Values that the agent would refuse to print, told at validation: the renderer's own check, within a budget of
 * time. Records beyond it go unchecked here; the agent checks all of them before it prints the first.
 */
import { setImmediate as breathe } from 'node:timers/promises';
import type { ValidationResult } from '../../contract/admin.ts';
import { JobFaultError } from '../../contract/fault.ts';
import type { PrinterFormat } from '../../contract/format.ts';
import type { PrintRequest } from '../../contract/print-request.ts';
import type { Template } from '../../contract/template.ts';

/** ms of checking for one request, and at a stretch. */
const BUDGET = 500;
const STRETCH = 15;

export async function valueWarnings(
  template: Template,
  request: PrintRequest,
  format: PrinterFormat,
): Promise<ValidationResult['warnings']> {
  // The renderer brings fonts and a canvas: a service that never validates does without.
  const { createRecordCheck } = await import('../../render/check.ts');
  const warnings: ValidationResult['warnings'] = [];
  try {
    // What it would print if it were sent now.
    const job = {
      createdAt: new Date().toISOString(),
      copies: request.numberCopies,
      records: request.data ?? [{}],
    };
    const target = { dpi: format.dpi, orientation: request.orientation, job };
    const check = await createRecordCheck(template, target);
    let spent = 0;
    let since = performance.now();
    for (const [index, record] of (request.data ?? [{}]).entries()) {
      try {
        check(record, index);
      } catch (error) {
        const where = request.data === undefined ? {} : { record: index };
        warnings.push({ ...warningOf(error), ...where });
      }
      const stretch = performance.now() - since;
      if (stretch < STRETCH) continue;
      spent += stretch;
      if (spent > BUDGET) break;
      await breathe();
      since = performance.now();
    }
  } catch (error) {
    warnings.push(warningOf(error));
  }
  return warnings;
}

/** @throws what is no fault of the job */
function warningOf(error: unknown): ValidationResult['warnings'][number] {
  if (!(error instanceof JobFaultError)) throw error;
  return { code: 'value-invalid', message: error.message };
}
