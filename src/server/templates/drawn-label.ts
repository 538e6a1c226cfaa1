/** Draws labels in the check threads, and answers in words where one exceeds their limits. */
import type { JobFault } from '../../contract/fault.ts';
import { because } from '../../contract/reason.ts';
import { type CheckPool, CheckStopped, type CheckTimes } from '../../rendering/check-pool.ts';
import type { PictureCheck, PictureResult } from '../../rendering/check-protocol.ts';
import { ProblemError, refusedBecause } from '../problems.ts';

/** ms; a page asks for many pictures at once, and those of one tenant wait for each other. */
const TIMES: CheckTimes = { wait: 20_000, run: 10_000 };

/** @throws ProblemError `label-undrawable`, `not-ready` */
export function drawn(
  checks: CheckPool,
  tenantId: string,
  check: Omit<PictureCheck, 'kind'>,
): Promise<PictureResult> {
  return inTime((times) => checks.run(tenantId, { kind: 'picture', ...check }, times));
}

/**
 * What a check thread makes of a label.
 * @param ask is given how long it may take
 * @throws ProblemError `label-undrawable`, `not-ready`
 */
export async function inTime<T extends object>(
  ask: (times: CheckTimes) => Promise<T | JobFault>,
): Promise<T> {
  try {
    const made = await ask(TIMES);
    if (!isFault(made)) return made;
    throw new ProblemError('label-undrawable', made.message, {
      reason: made.reason ?? because('other', { said: made.message.slice(0, 1_000) }),
    });
  } catch (error) {
    if (!(error instanceof CheckStopped)) throw error;
    const { reason } = error;
    if (reason === 'busy') throw new ProblemError('not-ready', 'other labels are being drawn: ask again');
    if (reason === 'broken')
      throw new ProblemError('internal', 'the label could not be drawn', { cause: error });
    const seconds = TIMES.run / 1000;
    const limit = reason === 'deadline' ? because('draws-long', { seconds }) : because('draws-much', {});
    throw refusedBecause('label-undrawable', limit);
  }
}

function isFault<T extends object>(made: T | JobFault): made is JobFault {
  return 'code' in made;
}
