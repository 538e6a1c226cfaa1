/**
 * Gives memory back to the system that threads have freed and glibc keeps for later. After strangers' pictures, fonts and
 * documents that is hundreds of megabytes, and they would stay in the process for good.
 */

/** From this growth of the process on, bytes, trimming is worth its time. */
const WORTH_TRIMMING = 64 * 1024 * 1024;

/** glibc's malloc_trim(3), on a thread of its own. Null: the C library is another one. Undefined: not loaded yet. */
let trim: (() => Promise<void>) | null | undefined;

/** By how many bytes the process has grown. @param rss its size before, bytes */
export function grownSince(rss: number): number {
  return process.memoryUsage.rss() - rss;
}

/**
 * Gives the freed memory of this process back to the system, if the process has grown much.
 * @param rss its size before, bytes
 * @returns whether it had grown much
 */
export async function trimMemory(rss: number): Promise<boolean> {
  if (grownSince(rss) <= WORTH_TRIMMING) return false;
  if (trim === undefined) trim = process.platform === 'linux' ? await load() : null;
  await trim?.();
  return true;
}

async function load(): Promise<(() => Promise<void>) | null> {
  const { default: koffi } = await import('koffi');
  try {
    const call = koffi.load('libc.so.6').func('int malloc_trim(size_t)');
    return () => new Promise((resolve) => call.async(0, () => resolve()));
  } catch {
    return null;
  }
}
