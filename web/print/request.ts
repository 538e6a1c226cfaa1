/** Print requests of the page Print. */
import { z } from 'zod';
import type { LabelRecord, PrintRequestInput } from '../../src/contract/print-request.ts';
import { call } from '../service/call.ts';
import { ofTenant } from '../service/session.ts';

/** A print request without its values; `dpi` is that of the chosen format, for the preview only. */
export type Route = Omit<PrintRequestInput, 'data'> & { dpi: number };

export function requestOf(
  { dpi: _, ...route }: Route,
  data: readonly LabelRecord[] | undefined,
): PrintRequestInput {
  return data === undefined ? route : { ...route, data: [...data] };
}

/** The service answers with the job's ID, alone or in a list. */
const sent = z.union([z.string(), z.tuple([z.string()]).transform(([id]) => id)]);

/**
 * @param key the same for each attempt at these labels
 * @returns the job's ID
 */
export async function send(
  route: Route,
  data: readonly LabelRecord[] | undefined,
  key: string,
): Promise<string> {
  return call(sent, ofTenant('/jobs'), { body: requestOf(route, data), key });
}
