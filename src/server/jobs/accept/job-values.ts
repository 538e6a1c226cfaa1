/**
 * The values of a job's records by which people find the job again, and the one that they know it by. Both are label data:
 * the database keeps marks of the first (`platen.job_values`), and both only as long as the job's data.
 */
import type { LabelRecord } from '../../../contract/print-request.ts';
import type { QueuedJob } from '../../../contract/queued-job.ts';
import { documentField } from '../../../contract/template.ts';
import { fieldsOf } from '../../templates/record-fields.ts';
import { searchableValue } from '../searchable-value.ts';

/** Most values by which one job is found, and most that are looked at: a job may have millions. */
const MOST = 2_000;
const MOST_SEEN = 20_000;
/** Characters of the value that a list of jobs shows. */
const SHOWN = 80;

/** The different values of the job's first records, in the form in which they are compared. */
export function searchableValues({ records }: Pick<QueuedJob, 'records'>): string[] {
  const found = new Set<string>();
  let seen = 0;
  for (const record of records) {
    for (const value of Object.values(record)) {
      seen += 1;
      if (seen > MOST_SEEN || found.size >= MOST) return [...found];
      const text = typeof value === 'boolean' || value === null ? undefined : searchableValue(String(value));
      if (text !== undefined) found.add(text);
    }
  }
  return [...found];
}

/** What the first record has in its first filled field; the fields that the template calls its reference come first. */
export function firstValue({ template, records: [first = {}] }: QueuedJob): string | null {
  const references = template.fields.flatMap(({ name, reference }) => (reference === true ? [name] : []));
  for (const name of [...references, ...fieldsOf(template)]) {
    if (name === documentField(template)) continue;
    const text = shown(first, name);
    if (text !== '') return text;
  }
  return null;
}

function shown(record: LabelRecord, name: string): string {
  const text = String((Object.hasOwn(record, name) ? record[name] : null) ?? '');
  return text
    .slice(0, SHOWN * 2)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, SHOWN)
    .toWellFormed();
}
