/**
 * What a program tells the systemd that started it (sd_notify(3)): that it works, that it lives, that it ends. It is
 * said to live as long as each loop that does its work comes round; when one stands still, systemd starts it again.
 */
import type { Logger } from '../log.ts';

/** Longest that a loop may take to come round, ms. A scan that nobody answers takes 18 s. */
const STILL_MS = 45_000;

/** Loops that come round, as long as they do. */
export class Loops {
  readonly #beats = new Map<string, number>();

  watch(loops: readonly string[]): void {
    for (const loop of loops) this.#beats.set(loop, performance.now());
  }

  beat(loop: string): void {
    if (this.#beats.has(loop)) this.#beats.set(loop, performance.now());
  }

  /** Those that do not any more. */
  still(): string[] {
    return [...this.#beats].filter(([, at]) => performance.now() - at > STILL_MS).map(([loop]) => loop);
  }
}

export interface ServiceManager {
  /** Everything works, and these loops go round from now on. What has begun to stop is not watched any more. */
  ready(stopping: AbortSignal, loops: readonly string[]): void;
  /** A loop has come round. */
  beat(loop: string): void;
}

let another: ((logger: Logger) => ServiceManager) | undefined;

/** Whom to tell where it is not systemd that started the process. */
export function tellInstead(manager: (logger: Logger) => ServiceManager): void {
  another = manager;
}

/** null: nobody asked to be told. */
export async function serviceManager(logger: Logger): Promise<ServiceManager | null> {
  if (another !== undefined) return another(logger);
  if ((process.env['NOTIFY_SOCKET'] ?? '') === '') return null;
  const { default: koffi } = await import('koffi');
  const notify = koffi.load('libsystemd.so.0').func('int sd_notify(int unset, const char *state)');
  const tell = (state: string) => {
    if (notify(0, state) < 0) logger.warn({ state }, 'the service manager could not be told');
  };
  const running = new Loops();
  const watch = () => {
    const still = running.still();
    if (still.length === 0) tell('WATCHDOG=1');
    else logger.error({ loops: still }, 'stands still: the service manager will start it again');
  };
  return {
    ready(stopping, loops) {
      running.watch(loops);
      tell('READY=1');
      const wanted = Number(process.env['WATCHDOG_USEC'] ?? 0) / 1_000;
      const timer = wanted > 0 ? setInterval(watch, wanted / 4).unref() : undefined;
      const end = () => {
        clearInterval(timer);
        tell('STOPPING=1');
      };
      if (stopping.aborted) end();
      else stopping.addEventListener('abort', end, { once: true });
    },
    beat: (loop) => running.beat(loop),
  };
}
