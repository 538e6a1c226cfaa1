/**
 * How fast the frames of one agent are read. A printer that prints jobs of one label takes four entries for each, some hundred
 * times a second. A stolen agent must not be able to occupy a core.
 */
import type { AgentFrame } from '../../contract/gateway.ts';

/** Entries in a second, and at once. */
const RATE = { perSecond: 2_000, burst: 5_000 };
/** Bytes of a frame that count as an entry at least: what is long takes time to read. */
const AN_ENTRY = 10_000;
/** A question about lanes is a command of its own, and so is a lease that is given back; and two lanes in it count as one entry. */
const COMMAND = 10;
const LANES_AN_ENTRY = 2;
/** Entries that 1 ms of work on a frame counts as: an agent has a tenth of a core for what takes long to read. */
const MS_OF_WORK = 20;
/** Pings and pongs in a second, and at once: an agent sends one in some seconds, and what a line has held up comes together. */
const SIGNS = { perSecond: 20, burst: 100 };

export class FrameRate {
  #tokens = RATE.burst;
  #countedAt: number;
  #signs = SIGNS.burst;
  #signAt: number;

  /** @param now by `performance.now`, as of `late` */
  constructor(now: number) {
    this.#countedAt = now;
    this.#signAt = now;
  }

  /** Counts a ping or a pong. @returns false: there are too many. Nothing can hold them up as it does frames */
  mayPing(now: number): boolean {
    const since = (now - this.#signAt) / 1_000;
    this.#signs = Math.min(SIGNS.burst, this.#signs + since * SIGNS.perSecond) - 1;
    this.#signAt = now;
    return this.#signs >= 0;
  }

  /** Counts the frame. @returns after how many ms it may be worked on */
  late(frame: AgentFrame, bytes: number, now: number): number {
    return this.#count(costOf(frame, bytes), now);
  }

  /** Counts work on a part of a frame, ms. @returns after how many ms there may be more of it */
  worked(ms: number, now: number): number {
    return this.#count(ms * MS_OF_WORK, now);
  }

  #count(entries: number, now: number): number {
    const since = (now - this.#countedAt) / 1_000;
    this.#tokens = Math.min(RATE.burst, this.#tokens + since * RATE.perSecond) - entries;
    this.#countedAt = now;
    return Math.max(0, (-this.#tokens / RATE.perSecond) * 1_000);
  }
}

function costOf(frame: AgentFrame, bytes: number): number {
  if (frame.kind === 'say') return Math.max(frame.entries.length, bytes / AN_ENTRY);
  if (frame.kind === 'lease') return COMMAND + frame.asks.length / LANES_AN_ENTRY;
  return COMMAND + (frame.kind === 'listen' ? frame.lanes.length / LANES_AN_ENTRY : 0);
}
