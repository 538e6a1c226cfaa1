/** A process that gives back what it has freed, whatever it was that had made it grow. */
import { trimMemory } from '../render/trim-memory.ts';

const EVERY_MS = 20_000;
/** Bytes of what has grown and stays that are taken for the process's own, each time. */
const ACCEPTED = 16 * 1024 * 1024;

/** Looks as long as the process runs. */
export function keepTrimmed(): void {
  let settled = Number.POSITIVE_INFINITY;
  const look = async () => {
    const grown = await trimMemory(settled);
    // What is in use now may be free soon: only what stays for minutes is no growth any more.
    settled = Math.min(grown ? settled + ACCEPTED : settled, process.memoryUsage.rss());
  };
  setInterval(() => void look(), EVERY_MS).unref();
}
