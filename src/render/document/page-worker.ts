/** The side of a `PageThread` that is on the thread: takes one order after the other, and answers each. */
import { parentPort } from 'node:worker_threads';
import type { Reason } from '../../contract/reason.ts';
import { PictureFault } from '../image/picture-fault.ts';
import type { PageReply } from './page-thread.ts';

/**
 * @param answerTo may throw a PictureFault, whose reason is the answer then
 * @param refusal the reason for any other error
 * @param handedOver the memory that goes over with an answer, and is not copied
 */
export function servePages<Order, Made>(
  answerTo: (order: Order) => Promise<Made>,
  refusal: (error: unknown) => Reason,
  handedOver: (made: Made) => ArrayBuffer[] = () => [],
): void {
  const port = parentPort;
  if (port === null) throw new Error('pages are drawn on a worker thread');
  const serve = async (order: Order & { readonly id: number }): Promise<void> => {
    const since = process.threadCpuUsage();
    const answer = await answerTo(order).then(
      (made) => ({ made }),
      (error: unknown) => ({ refused: error instanceof PictureFault ? error.said : refusal(error) }),
    );
    const { user, system } = process.threadCpuUsage(since);
    const reply: PageReply<Made> = { id: order.id, worked: (user + system) / 1_000, ...answer };
    port.postMessage(reply, 'made' in answer ? handedOver(answer.made) : []);
  };
  port.on('message', (order: Order & { readonly id: number }) => void serve(order));
  port.postMessage('loaded');
}
