/** For what threads have freed and the C library would keep for later: hundreds of megabytes after a stranger's file. */

/** glibc's malloc_trim(3), on a thread of its own; null where the C library is another one. */
let trim: (() => void) | null | undefined;

/** Bytes by which the process has grown, and that are worth giving back. */
const WORTH_TRIMMING = 64 * 1024 * 1024;

/** @param rss bytes that the process had */
export function grownSince(rss: number): number {
  return process.memoryUsage.rss() - rss;
}

/** Gives the freed memory of this process back to the system, if it has grown much. @param rss bytes that it had */
export async function trimMemory(rss: number): Promise<void> {
  if (grownSince(rss) <= WORTH_TRIMMING) return;
  trim ??= process.platform === 'linux' ? await load() : null;
  trim?.();
}

async function load(): Promise<(() => void) | null> {
  const { default: koffi } = await import('koffi');
  try {
    const call = koffi.load('libc.so.6').func('int malloc_trim(size_t)');
    return () => call.async(0, () => undefined);
  } catch {
    return null;
  }
}
