import type { Logger } from '../log.ts';

/** Aborted by the first SIGINT or SIGTERM; the second one ends the process at once. */
export function untilToldToStop(logger: Logger): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(1);
      logger.info({ signal: name }, 'stopping; a second signal ends the process at once');
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
