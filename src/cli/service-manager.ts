/**
 * Tells the systemd that started the program (sd_notify(3)) that it works, lives, or ends. It is said to live
 * as long as each loop that does its work comes round; when a loop stands still, systemd restarts the
 * program.
 */
import type { Logger } from '../log.ts';

/** Longest that a loop may take to come round, ms. A scan that nobody answers takes 18 s. */
const STILL_MS = 45_000;

/** The last heartbeats of loops. */
export class Loops {
  readonly #beats = new Map<string, number>();

  watch(loops: readonly string[]): void {
    for (const loop of loops) this.#beats.set(loop, performance.now());
  }

  beat(loop: string): void {
    if (this.#beats.has(loop)) this.#beats.set(loop, performance.now());
  }

  /** The loops that stand still. */
  still(): string[] {
    return [...this.#beats].filter(([, at]) => performance.now() - at > STILL_MS).map(([loop]) => loop);
  }
}

export interface ServiceManager {
  /** Everything works, and these loops are watched from now on, until the process begins to stop. */
  ready(stopping: AbortSignal, loops: readonly string[]): void;
  /** A loop has come round. */
  beat(loop: string): void;
}

let another: ((logger: Logger) => ServiceManager) | undefined;

/** Sets the service manager of a process that systemd has not started. */
export function tellInstead(manager: (logger: Logger) => ServiceManager): void {
  another = manager;
}

/** null: no service manager has started the process. */
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
