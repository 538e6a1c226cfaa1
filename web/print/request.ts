/** What the page Print asks the service for. */
import { z } from 'zod';
import type { LabelRecord, PrintRequestInput } from '../../src/contract/print-request.ts';
import { call } from '../service/call.ts';
import { ofTenant } from '../service/session.ts';

/** All but the values, and the resolution of the chosen format, for the preview. */
export type Route = Omit<PrintRequestInput, 'data'> & { dpi: number };

/** As the service takes it. */
export function requestOf(
  { dpi: _, ...route }: Route,
  data: readonly LabelRecord[] | undefined,
): PrintRequestInput {
  return data === undefined ? route : { ...route, data: [...data] };
}

/** What the service answers: one ID, or a list with it. */
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
