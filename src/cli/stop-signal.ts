import type { Logger } from '../log.ts';
import { mustEnd } from './ending.ts';

/** Aborted by the first SIGINT or SIGTERM, after which the process ends in time; the second one ends it at once. */
export function untilToldToStop(logger: Logger): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(1);
      logger.info({ signal: name }, 'stopping; a second signal ends the process at once');
      mustEnd();
      controller.abort(new Error(`stopped by ${name}`));
    });
  }
  return controller.signal;
}

/** Resolves when the signal is aborted. */
export async function stopped(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
