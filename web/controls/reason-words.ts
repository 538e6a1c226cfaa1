/** Words for the reasons that the service gives, about values, elements and records. */
import { type Reason, sentence } from '../../src/contract/reason.ts';
import type { Fault } from '../service/call.ts';
import { t } from '../texts/texts.ts';

/** A measure in millimetres, as the service writes it. */
const DECIMAL = /^\d+\.\d+$/;
/** `/data/3/field`: a value of a record. */
const OF_RECORD = /^\/data\/(\d{1,6})(?:\/(.*))?$/;

/** @returns undefined where the page does not know the code: then the service's own English is shown */
export function reasonWords(reason: Reason | undefined): string | undefined {
  const words = inner(reason);
  return words === undefined ? undefined : words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** The sentence as the table has it, without a capital at its start: it may stand inside another one. */
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

/** The record that a fault is about, from 0, and its field where the fault is about one field alone. */
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
