/** How a service refuses a command, or is away. */
import { z } from 'zod';
import { CommandFailure } from './failure.ts';

/** The part of a problem document (RFC 9457) that a command shows. */
const problem = z.object({
  code: z.string(),
  title: z.string(),
  detail: z.string().optional(),
  errors: z.array(z.object({ pointer: z.string().optional(), detail: z.string().optional() })).optional(),
});

/** What is wrong with one place of a request; `pointer` is a JSON pointer into its body. */
export interface RefusedPlace {
  pointer?: string | undefined;
  detail?: string | undefined;
}

/** The service refused; `code` is the problem's stable code. */
export class ServiceRefusal extends CommandFailure {
  readonly status: number;
  readonly code: string;
  readonly places: readonly RefusedPlace[];

  constructor(status: number, code: string, message: string, places: readonly RefusedPlace[] = []) {
    super(message);
    this.name = 'ServiceRefusal';
    this.status = status;
    this.code = code;
    this.places = places;
  }
}

/** The service did not answer at all. */
export class NoAnswer extends CommandFailure {}

/** Whether the service is away or not ready, as while it is restarted: the same may work soon. */
export function isAway(error: unknown): boolean {
  return error instanceof NoAnswer || (error instanceof ServiceRefusal && error.status >= 500);
}

/** The refusal that an answer is. */
export function refusal(status: number, body: unknown): ServiceRefusal {
  const { data } = problem.safeParse(body);
  if (data === undefined)
    return new ServiceRefusal(status, 'unknown', `The service answered status ${status}.`);
  // `detail` already says what a single error says.
  const listed = data.errors !== undefined && data.errors.length > 1 ? data.errors : [];
  const faults = listed.map((fault) => `\n  ${fault.pointer ?? ''}: ${fault.detail ?? ''}`);
  return new ServiceRefusal(
    status,
    data.code,
    `${data.detail ?? data.title} [${data.code}]${faults.join('')}`,
    data.errors,
  );
}
