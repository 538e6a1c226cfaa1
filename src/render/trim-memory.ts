/**
 * What threads have freed, and glibc keeps for later: after strangers' pictures, fonts and documents hundreds of megabytes, which
 * stay in the process for good unless somebody asks for them.
 */

/** Bytes by which the process has grown, and that are worth giving back. */
const WORTH_TRIMMING = 64 * 1024 * 1024;

/** glibc's malloc_trim(3), on a thread of its own; null where the C library is another one. */
let trim: (() => Promise<void>) | null | undefined;

/** @param rss bytes that the process had */
export function grownSince(rss: number): number {
  return process.memoryUsage.rss() - rss;
}

/** Gives the freed memory of this process back to the system, if it has grown much. @param rss bytes that it had. @returns whether it had */
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
