/**
 * Begins no long file while all cores are busy, as `make -l` begins no command then: it would end no sooner, and those
 * that are under way would wait longer for what they do in time. What runs at a low priority leaves the cores free. Linux only.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** The share of all cores that must be free. */
const FREE = 0.1;
/** How long a look takes, ms: a random time, so that two files do not begin after the same look. */
const LEAST_LOOK = 500;
const MOST_LOOK = 2_500;
/** After so many ms a file begins in any case. */
const LONGEST = 180_000;

/** Ticks of all cores since the start of the machine. */
function ticks(): { free: number; all: number } {
  const [first = ''] = readFileSync('/proc/stat', 'latin1').split('\n', 1);
  // proc(5): user, nice, system, idle, iowait, irq, softirq, steal.
  const counts = first.split(/ +/).slice(1, 9).map(Number);
  const [, nice = 0, , idle = 0, iowait = 0] = counts;
  return { free: nice + idle + iowait, all: counts.reduce((sum, count) => sum + count, 0) };
}

if (process.platform === 'linux') {
  const until = Date.now() + LONGEST;
  let share = 0;
  while (share < FREE && Date.now() < until) {
    const before = ticks();
    await pause(LEAST_LOOK + Math.random() * (MOST_LOOK - LEAST_LOOK));
    const now = ticks();
    share = (now.free - before.free) / (now.all - before.all);
  }
}
