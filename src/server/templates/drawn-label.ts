/** A label drawn in the check threads, with their bounds in words. */
import { type CheckPool, CheckStopped, type CheckTimes } from '../../rendering/check-pool.ts';
import type { PictureCheck, PictureResult } from '../../rendering/check-protocol.ts';
import { ProblemError } from '../problems.ts';

/** ms; a page asks for many pictures at once, and a tenant's wait for each other. */
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
    throw new ProblemError('label-undrawable', picture.message);
  } catch (error) {
    if (!(error instanceof CheckStopped)) throw error;
    const { reason } = error;
    if (reason === 'busy') throw new ProblemError('not-ready', 'other labels are being drawn: ask again');
    if (reason === 'broken')
      throw new ProblemError('internal', 'the label could not be drawn', { cause: error });
    const limit = reason === 'deadline' ? `longer than ${TIMES.run / 1000} s` : 'too much memory';
    throw new ProblemError('label-undrawable', `it takes ${limit} to draw`);
  }
}
