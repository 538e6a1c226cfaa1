/** A source of jobs whose commands a test may replace: of an object of a class nothing is copied. */
import type { JobSource } from '../../../src/queue/index.ts';

export function ownSource(queue: JobSource): JobSource {
  return {
    askLeases: (...asked) => queue.askLeases(...asked),
    giveLeaseBack: (...of) => queue.giveLeaseBack(...of),
    consume: (...of) => queue.consume(...of),
    publish: (...of) => queue.publish(...of),
  };
}
