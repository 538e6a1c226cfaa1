/**
 * What threads have freed, and glibc keeps for later: after strangers' pictures, fonts and documents hundreds of megabytes, which
 * stay in the process for good unless somebody asks for them.
 */

const EVERY_MS = 20_000;
/** Bytes by which the process has grown since the last time, and that are worth giving back. */
const WORTH_TRIMMING = 64 * 1024 * 1024;
/** Bytes of what has grown and stays that are taken for the process's own, each time. */
const ACCEPTED = 16 * 1024 * 1024;

/** glibc's malloc_trim(3), on a thread of its own; null where the C library is another one. */
let trim: (() => Promise<void>) | null | undefined;

/** Gives the freed memory of this process back to the system, whenever it has grown much, as long as the process runs. */
export function keepTrimmed(): void {
  if (process.platform !== 'linux') return;
  let settled = Number.POSITIVE_INFINITY;
  const look = async () => {
    if (process.memoryUsage.rss() - settled <= WORTH_TRIMMING) {
      settled = Math.min(settled, process.memoryUsage.rss());
      return;
    }
    if (trim === undefined) trim = await load();
    await trim?.();
    // What is in use now may be free soon: only what stays for minutes is no growth any more.
    settled = Math.min(settled + ACCEPTED, process.memoryUsage.rss());
  };
  setInterval(() => void look(), EVERY_MS).unref();
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
