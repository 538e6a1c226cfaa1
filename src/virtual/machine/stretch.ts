/**
 * The virtual printers of a process share its thread with everything else that the process serves. What their clients ask
 * for is done in stretches of one turn of the event loop each, and in the order in which it was asked for.
 */
const STRETCH_MS = 10;

const waiting: (() => void)[] = [];
/** When the stretch under way is over; undefined: none is. */
let over: number | undefined;

/** Whether to go on only in a later stretch. */
export function stretchIsOver(): boolean {
  if (over === undefined) {
    over = performance.now() + STRETCH_MS;
    setImmediate(() => {
      over = undefined;
      goOn();
    });
  }
  return performance.now() >= over;
}

/** Waits until a stretch has time. */
export async function inStretches(): Promise<void> {
  if (waiting.length === 0 && !stretchIsOver()) return;
  await new Promise<void>((resolve) => {
    waiting.push(resolve);
    stretchIsOver();
  });
}

/** One after the other: only when one has worked is it known whether the stretch has time for the next. */
function goOn(): void {
  if (waiting.length === 0 || stretchIsOver()) return;
  waiting.shift()?.();
  queueMicrotask(() => queueMicrotask(goOn));
}
