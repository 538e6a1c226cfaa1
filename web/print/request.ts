/** Print requests of the page Print. */
import { z } from 'zod';
import type { LabelRecord, PrintRequestInput } from '../../src/contract/print-request.ts';
import { because, type Reason } from '../../src/contract/reason.ts';
import type { Attempts } from '../service/attempts.ts';
import { call } from '../service/call.ts';
import { jobLimits, ofTenant } from '../service/session.ts';

/** A print request without its values. Only the preview needs `dpi`, that of the chosen format, and the template's `version`. */
export type Route = Omit<PrintRequestInput, 'data'> & { dpi: number; version: string };

/** What every way to print needs, wherever its values come from. */
export type Sending = {
  route: Route;
  ready: boolean;
  attempts: Attempts;
  /** Asks whether to print a label that does not fit the media. */
  agrees: () => Promise<boolean>;
  onSent: (job: string) => void;
};

export function requestOf(
  { dpi: _, version: __, ...route }: Route,
  data: readonly LabelRecord[] | undefined,
): PrintRequestInput {
  return data === undefined ? route : { ...route, data: [...data] };
}

/** Says why the service would refuse so many labels in one job. */
export function tooMany(records: number, { numberCopies: copies = 1 }: Route): Reason | undefined {
  const most = jobLimits();
  if (records > most.records) return because('records-between', { most: most.records });
  const labels = records * copies;
  return labels > most.labels
    ? because('labels-many', { records, copies, labels, most: most.labels })
    : undefined;
}

/** The service answers with the job's ID, either alone or in a list. */
const sent = z.union([z.string(), z.tuple([z.string()]).transform(([id]) => id)]);

/** @returns the job's ID. @throws as `call` */
export async function send(
  route: Route,
  data: readonly LabelRecord[] | undefined,
  attempts: Attempts,
): Promise<string> {
  const body = requestOf(route, data);
  return attempts.send(body, (key) => call(sent, ofTenant('/jobs'), { body, key }));
}
