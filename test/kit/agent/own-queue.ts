/** A queue whose commands a test may replace: of an object of a class nothing is copied. */
import type { DeliveryQueue } from '../../../src/queue/index.ts';

export function ownQueue(queue: DeliveryQueue): DeliveryQueue {
  return {
    askLeases: (...asked) => queue.askLeases(...asked),
    giveLeaseBack: (...of) => queue.giveLeaseBack(...of),
    consume: (...of) => queue.consume(...of),
    publish: (...of) => queue.publish(...of),
  };
}
