/** Draws a label in the check threads, and answers in words where it exceeds their limits. */
import { because } from '../../contract/reason.ts';
import { type CheckPool, CheckStopped, type CheckTimes } from '../../rendering/check-pool.ts';
import type { PictureCheck, PictureResult } from '../../rendering/check-protocol.ts';
import { ProblemError, refusedBecause } from '../problems.ts';

/** ms; a page asks for many pictures at once, and those of one tenant wait for each other. */
const TIMES: CheckTimes = { wait: 20_000, run: 10_000 };

/** @throws ProblemError `label-undrawable`, `not-ready` */
export async function drawn(
  checks: CheckPool,
  tenantId: string,
  check: Omit<PictureCheck, 'kind'>,
): Promise<PictureResult> {
  try {
    const picture = await checks.picture(tenantId, check, TIMES);
    if ('png' in picture) return picture;
    throw new ProblemError('label-undrawable', picture.message, {
      reason: picture.reason ?? because('other', { said: picture.message.slice(0, 1_000) }),
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
