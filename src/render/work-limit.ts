/** A limit for what another thread of this process works, by the work and not by the clock. */

/** By the clock, the limit is at most so many times as long. */
const MOST = 4;

/**
 * Calls `late` after `ms`. On a busy machine a thread gets only a part of a core. So `late` waits, up to four times as long,
 * until the whole process has had `ms` of CPU time: before that, none of its threads has had as much.
 * @returns ends the limit
 */
export function limitWork(ms: number, late: () => void): () => void {
  const begun = process.cpuUsage();
  const last = performance.now() + MOST * ms;
  const look = () => {
    const { user, system } = process.cpuUsage(begun);
    const left = Math.min(ms - (user + system) / 1_000, last - performance.now());
    if (left <= 0) late();
    else timer = setTimeout(look, Math.ceil(left));
  };
  let timer = setTimeout(look, ms);
  return () => clearTimeout(timer);
}
