/** Runs one attack after the other against one service, and measures what each does to everybody else. */
import { getPriority, setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { AT_GATEWAY } from './at-gateway.ts';
import { ATTACKS } from './attacks.ts';
import type { Attack } from './callers.ts';
import { Pulse } from './pulse.ts';
import { type Place, Target } from './target.ts';

export type SiegeOptions = {
  /** s for each attack. */
  seconds: number;
  /** Of the full size, 0 to 1. */
  share: number;
  /** ms within which `/healthz` must always answer, on top of what an idle server takes at the same time. */
  answer: number;
  /** ms within which an honest caller must have each answer. */
  patience: number;
  /** Bytes that the service is to stay below, but for a page of a document. */
  memory: number;
  /** Bytes that one attack may make it grow by. */
  growth: number;
  /** Only where the service has its lanes so; both, one after the other. */
  place?: Place;
  /** Only attacks with this in their names. */
  only?: string;
  /** How often all attacks come, one after the other. */
  rounds?: number;
  /** Also those attacks that others on this machine would notice; they need root. */
  alone?: boolean;
  tell: (line: string) => void;
};

/** The lowest priority, as a Unix nice value. */
const LAST = 19;
/** ms between two attacks, and after a round, when what was kept for a while is given back. */
const REST = 200;
const LONG_REST = 10_000;
/**
 * Bytes of a page of a document that may still be there when the thread that drew it has ended, and of all rounds that may
 * be there beyond the first; ms until the thread has.
 */
const LEFT = 128 * 1024 * 1024;
const ENDED = 60_000;

const BY_PLACE: Record<Place, readonly Attack[]> = { redis: ATTACKS, gateway: AT_GATEWAY };
export const PLACES = ['redis', 'gateway'] as const;

/** @returns what broke, one line each @throws Error when the service does not start */
export async function besiege(options: SiegeOptions): Promise<string[]> {
  const broken: string[] = [];
  for (const place of options.place === undefined ? PLACES : [options.place]) {
    const chosen = BY_PLACE[place].filter(
      (one) => (options.alone || !one.alone) && one.name.includes(options.only ?? ''),
    );
    if (chosen.length > 0) broken.push(...(await besiegeAt(place, chosen, options)));
  }
  return broken;
}

async function besiegeAt(place: Place, attacks: readonly Attack[], options: SiegeOptions): Promise<string[]> {
  const { rounds = 1, alone = false } = options;
  const target = await Target.start(place, alone);
  const pulse = await Pulse.start(target.up.url);
  const broken: string[] = [];
  // Real attackers have machines of their own: here, their thread gets what the service and the pulse leave.
  const priority = getPriority();
  setPriority(LAST);
  try {
    await target.signIn();
    // What is made at first use (render threads, the page of the documents) is made now.
    for (let warm = 0; warm < 5; warm++) await target.honestRequest();
    let afterFirst: number | undefined;
    for (let round = 1; round <= rounds; round++) {
      for (const attack of attacks) broken.push(...(await hold(attack, target, pulse, options)));
      if (rounds === 1) continue;
      await pause(LONG_REST);
      const { now } = await target.memory();
      afterFirst ??= now;
      options.tell(`round ${round} of ${rounds}: ${megabytes(now)} MB at rest`);
      if (now - afterFirst > LEFT) {
        broken.push(`round ${round} left ${megabytes(now)} MB, the first one ${megabytes(afterFirst)}`);
      }
    }
    return broken;
  } finally {
    await pulse.stop();
    await target.stop();
    // Only root may; the files that follow in this process are no attackers.
    if (process.getuid?.() === 0) setPriority(priority);
  }
}

/** One attack. @returns what broke */
async function hold(
  { name, run, page = 0 }: Attack,
  target: Target,
  pulse: Pulse,
  options: SiegeOptions,
): Promise<string[]> {
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
  if (peak > options.memory + page) wrong.push(`the service had ${megabytes(peak)} MB`);
  if (growth > options.growth + page) wrong.push(`the service grew by ${megabytes(growth)} MB`);
  options.tell(
    `${wrong.length === 0 ? 'held ' : 'BROKE'} ${name}: /healthz ${times.length} times, ${quantile(times, 0.5)} ms at the median, ` +
      `${quantile(times, 0.99)} at p99, ${Math.round(slowest)} at most (an idle server ${Math.round(slowestIdle)}); ${megabytes(peak)} MB, of which ${megabytes(growth)} new`,
  );
  if (page > 0) {
    const until = performance.now() + ENDED;
    const left = async () => (await target.memory()).now - before.now;
    while ((await left()) > LEFT && performance.now() < until) await pause(REST);
    if ((await left()) > LEFT) wrong.push(`the service keeps ${megabytes(await left())} MB`);
  }
  for (const line of wrong) options.tell(`        ${line}`);
  await pause(REST);
  return wrong.map((line) => `${name}: ${line}`);
}

function quantile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}
