/** The payload of `POST /v2/jobs` and `POST /v2/jobs/validate`. */
import { z } from 'zod';
import { LIMITS } from './limits.ts';
import { saying } from './reason.ts';

/**
 * A value of one dynamic field. Nested values are refused; `null` prints as nothing. How long a text may be depends on its
 * field: `longFields`.
 */
const recordValue = z.union([z.string(), z.number(), z.boolean(), z.null()], {
  error: saying('record-value', { most: LIMITS.valueLength }),
});
export type RecordValue = z.infer<typeof recordValue>;

/** One label record; its keys are the exact names of the template's dynamic fields. */
export const labelRecord = z
  .record(z.string().min(1).max(200), recordValue)
  .refine((record) => Object.keys(record).length <= LIMITS.fieldsPerRecord, {
    error: saying('most-fields', { most: LIMITS.fieldsPerRecord }),
  });
export type LabelRecord = z.infer<typeof labelRecord>;

export const orientation = z.enum(['portrait', 'landscape']);
export type Orientation = z.infer<typeof orientation>;

const REFERENCE = saying('text-of', { most: 200 });
/** Not trimmed: a name with a space at its end is another name. */
const reference = z.string(REFERENCE).min(1, REFERENCE).max(200, REFERENCE);

/**
 * Whether `labelRecord` takes the value, in a small part of the time: a body may hold half a million values,
 * and they are checked on the thread that serves other people's requests.
 * @param most characters of its longest value
 */
export function isLabelRecord(value: unknown, most = Number.POSITIVE_INFINITY): value is LabelRecord {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const names = Object.keys(value);
  if (names.length > LIMITS.fieldsPerRecord) return false;
  for (const name of names) if (name === '' || name.length > 200 || name === '__proto__') return false;
  const values: unknown[] = Object.values(value);
  return values.every((one) => isRecordValue(one, most));
}

function isRecordValue(value: unknown, most: number): boolean {
  if (typeof value === 'string') return value.length <= most;
  return value === null || typeof value === 'boolean' || Number.isFinite(value);
}

type RequestLimits = { records: number; labels: number };

/** The payload's schema under a deployment's own limits. */
export function printRequestWithin(limits: RequestLimits) {
  const expected = expectedRecords(limits);
  return requestWithin(limits, z.array(labelRecord, expected).min(1, expected).max(limits.records, expected));
}

/** The same schema without a look into the records, for callers that check those by `isLabelRecord`. */
export function printEnvelopeWithin(limits: RequestLimits) {
  const fits = (data: unknown) => Array.isArray(data) && data.length > 0 && data.length <= limits.records;
  return requestWithin(limits, z.custom<readonly unknown[]>(fits, expectedRecords(limits)));
}

function expectedRecords({ records }: RequestLimits): string {
  return saying('records-between', { most: records });
}

function requestWithin<T extends z.ZodType>(limits: RequestLimits, data: T) {
  const copies = saying('whole-number', { least: 1, most: limits.labels });
  return z
    .strictObject({
      idT: reference.meta({ description: 'ID of the saved template. Must exist in the tenant.' }),
      printerId: reference.optional().meta({ description: 'ID of the printer, the preferred route.' }),
      printer: reference
        .optional()
        .meta({ description: 'Printer name, the fallback route; matched exactly.' }),
      format: reference
        .optional()
        .meta({ description: "Format name or ID; by default the printer's first." }),
      orientation: orientation.default('portrait').meta({ description: 'How the label lies on the media.' }),
      numberCopies: z
        .int(copies)
        .min(1, copies)
        .max(limits.labels, copies)
        .default(1)
        .meta({ description: 'Copies of each record.' }),
      data: data.optional().meta({
        description: 'Label records. Left out for a template without dynamic data.',
      }),
    })
    .refine((request) => request.printerId !== undefined || request.printer !== undefined, {
      error: saying('printer-wanted', {}),
      path: ['printerId'],
    });
}
const printRequest = printRequestWithin(LIMITS);
export type PrintRequest = z.infer<typeof printRequest>;
/** As a caller writes it, before defaults are filled in. */
export type PrintRequestInput = z.input<typeof printRequest>;
