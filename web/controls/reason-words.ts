/** Words for the reasons that the service gives for refusing values, elements and records. */
import { type Reason, sentence } from '../../src/contract/reason.ts';
import type { Fault } from '../service/call.ts';
import { t } from '../texts/texts.ts';

/** A measure in millimetres, as the service writes it. */
const DECIMAL = /^\d+\.\d+$/;
/** `/data/3/field`: a value of a record. */
const OF_RECORD = /^\/data\/(\d{1,6})(?:\/(.*))?$/;

/** @returns undefined where the page does not know the code; the service's own English is shown then */
export function reasonWords(reason: Reason | undefined): string | undefined {
  const words = inner(reason);
  return words === undefined ? undefined : words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** The sentence as the table has it, which begins with no capital, because it may stand inside another sentence. */
function inner(reason: Reason | undefined): string | undefined {
  const { reasons } = t.value.problem;
  if (reason === undefined || !Object.hasOwn(reasons, reason.code)) return undefined;
  const why = inner(reason.why);
  const said = why === undefined ? reason.values : { ...reason.values, why };
  const values = Object.entries(said).map(([slot, value]) => [slot, written(value)]);
  return sentence(reasons[reason.code] ?? '', Object.fromEntries(values));
}

function written(value: string | number): string {
  const number = typeof value === 'number' ? value : DECIMAL.test(value) ? Number(value) : undefined;
  return number === undefined ? String(value) : number.toLocaleString(t.value.locale, { useGrouping: false });
}

/** The record that a fault is about, counted from 0, and its field if the fault is about only one. */
export function recordOf({ pointer = '' }: Fault): { record: number; field: string | undefined } | undefined {
  const [, record, field] = OF_RECORD.exec(pointer) ?? [];
  if (record === undefined) return undefined;
  return { record: Number(record), field: field?.replaceAll('~1', '/').replaceAll('~0', '~') };
}

/** What is wrong with a record, with the name of the field before it. */
export function faultInRecord(fault: Fault): string {
  const words = reasonWords(fault.reason);
  // The service's own words name the field already.
  if (words === undefined) return fault.detail;
  const field = recordOf(fault)?.field;
  return field === undefined ? words : `${field}: ${words}`;
}
