/** Runs one attack after the other against one service, and measures what each does to everybody else. */
import { getPriority, setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { ATTACKS } from './attacks.ts';
import { Pulse } from './pulse.ts';
import { Target } from './target.ts';

export type SiegeOptions = {
  /** s for each attack. */
  seconds: number;
  /** Of the full size, 0 to 1. */
  share: number;
  /** ms within which `/healthz` must always answer, on top of what an idle server takes at the same time. */
  answer: number;
  /** Bytes that the service is to stay below, always. */
  memory: number;
  /** Bytes that one attack may make it grow by. */
  growth: number;
  /** Only attacks with this in their names. */
  only?: string;
  tell: (line: string) => void;
};

/** The lowest priority, as a Unix nice value. */
const LAST = 19;
/** ms between two attacks. */
const REST = 200;

/** @returns what broke, one line each @throws Error when the service does not start */
export async function besiege(options: SiegeOptions): Promise<string[]> {
  const target = await Target.start();
  const pulse = await Pulse.start(target.up.url);
  const broken: string[] = [];
  // Real attackers have machines of their own: here, their thread gets what the service and the pulse leave.
  const priority = getPriority();
  setPriority(LAST);
  try {
    await target.signIn();
    // What is made at first use (render threads, the page of the documents) is made now.
    for (let warm = 0; warm < 5; warm++) await target.honestRequest();
    for (const { name, run } of ATTACKS) {
      if (options.only !== undefined && !name.includes(options.only)) continue;
      await target.signIn();
      await target.forgetPeak();
      await pulse.take();
      const before = await target.memory();
      const wrong = await run(target, options);
      const { times, idle, failures } = await pulse.take();
      target.hangUp();
      const slowest = Math.max(0, ...times);
      const slowestIdle = Math.max(0, ...idle);
      const { peak } = await target.memory();
      const growth = peak - before.now;
      if (failures.length > 0) wrong.push(`/healthz failed ${failures.length} times: ${failures[0]}`);
      if (slowest - slowestIdle > options.answer) {
        wrong.push(`/healthz took ${Math.round(slowest)} ms, an idle server ${Math.round(slowestIdle)} ms`);
      }
      if (peak > options.memory) wrong.push(`the service had ${megabytes(peak)} MB`);
      if (growth > options.growth) wrong.push(`the service grew by ${megabytes(growth)} MB`);
      options.tell(
        `${wrong.length === 0 ? 'held ' : 'BROKE'} ${name}: /healthz ${times.length} times, ${quantile(times, 0.5)} ms at the median, ` +
          `${quantile(times, 0.99)} at p99, ${Math.round(slowest)} at most (an idle server ${Math.round(slowestIdle)}); ${megabytes(peak)} MB, of which ${megabytes(growth)} new`,
      );
      for (const line of wrong) options.tell(`        ${line}`);
      broken.push(...wrong.map((line) => `${name}: ${line}`));
      await pause(REST);
    }
    return broken;
  } finally {
    await pulse.stop();
    await target.stop();
    // Only root may; the files that follow in this process are no attackers.
    if (process.getuid?.() === 0) setPriority(priority);
  }
}

function quantile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}
