/**
 * `npm run chaos -- --minutes N --seed S`: runs real processes and simulated printers under faults drawn from
 * a seed. The printers record what is on their paper, and that is compared with what the service says, label
 * by label.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CLOCKS, installMissing, SERVERS } from '../kit/servers/debian-packages.ts';
import { makeCluster } from '../kit/servers/made-cluster.ts';
import { Random } from './random.ts';
import { Round } from './round.ts';
import { type ChaosSite, openSite, SETUPS, type Setup } from './site.ts';
import type { Violation } from './verdict.ts';

/** How long faults are made in a round, ms. */
const ROUND_MS = 30_000;

export interface ChaosOptions {
  minutes: number;
  seed: number;
  setup?: Setup;
  /** Faults go on beyond the time until this holds. How many labels a minute yields depends on the machine. */
  enough?: (soFar: ChaosResult) => boolean;
  say(text: string): void;
}

export interface ChaosResult {
  seed: number;
  setup: Setup;
  rounds: number;
  jobs: number;
  labels: number;
  /** Labels on the printers' paper. */
  out: number;
  held: number;
  faults: number;
  repeated: number;
  /** Of the processes that had an older version at first, those that have this one now; null: there was no older one. */
  updated: number | null;
  violations: Violation[];
  /** The logs; removed where nothing was wrong. */
  directory: string;
}

/** Runs rounds until the time is over and there was enough, or one has a violation. */
export async function chaos({
  minutes,
  seed,
  setup,
  enough = () => true,
  say,
}: ChaosOptions): Promise<ChaosResult> {
  const random = new Random(seed);
  const chosen = setup ?? random.pick(SETUPS);
  const directory = mkdtempSync(join(tmpdir(), 'platen-chaos-'));
  // Under root, PostgreSQL runs as another user, who has to reach its directory inside this one.
  chmodSync(directory, 0o711);
  const begun = Date.now();
  const site = await openSite(chosen, directory, random);
  // A slow start takes nothing from the time in which faults are made.
  const end = Date.now() + minutes * 60_000;
  const result: ChaosResult = {
    seed,
    setup: chosen,
    rounds: 0,
    jobs: 0,
    labels: 0,
    out: 0,
    held: 0,
    faults: 0,
    repeated: 0,
    updated: null,
    violations: [],
    directory,
  };
  const oldOf = ({ agents, services }: ChaosSite) =>
    [...agents, ...services].filter(({ isOld }) => isOld).length;
  const begunOld = oldOf(site);
  const sayWhen = (text: string) =>
    say(`${((Date.now() - begun) / 1_000).toFixed(1).padStart(7)} s  ${text}`);
  if (site.older !== undefined) sayWhen(`the older version: ${site.older}`);
  try {
    while (result.rounds === 0 || ((Date.now() < end || !enough(result)) && result.violations.length === 0)) {
      const first = 1_000_000 * ++result.rounds;
      sayWhen(`round ${result.rounds} (${chosen})`);
      const round = new Round(site, random, first, sayWhen);
      await round.run(Math.min(ROUND_MS, Math.max(5_000, end - Date.now())));
      result.jobs += round.jobs;
      result.labels += round.labels;
      result.held += round.held;
      result.faults += round.faults;
      result.violations.push(...round.violations);
      result.out = site.printers.reduce((sum, { printer }) => sum + printer.paper.length, 0);
      result.repeated = site.poster.repeated;
      if (begunOld > 0) result.updated = begunOld - oldOf(site);
    }
  } finally {
    await site.stop();
  }
  if (result.violations.length === 0) rmSync(directory, { recursive: true, force: true });
  return result;
}

/** What a person needs to investigate the violations. */
export function explain({ violations, seed, setup, directory }: ChaosResult): string {
  const lines = violations.map(({ kind, text }) => `${kind}: ${text}`);
  const again = `npm run chaos -- --seed ${seed} --setup ${setup}`;
  return [...lines, `The logs of all processes are in ${directory}. To run it again: ${again}`].join('\n');
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '2' },
      seed: { type: 'string', default: String(Math.floor(Date.now() / 1_000) % 1_000_000) },
      setup: { type: 'string' },
      gateway: { type: 'boolean' },
    },
  });
  if (values.gateway) values.setup = 'gateway';
  const minutes = Number(values.minutes);
  const seed = Number(values.seed);
  const setup = SETUPS.find((name) => name === values.setup);
  if (!(minutes > 0) || !Number.isInteger(seed) || (values.setup !== undefined && setup === undefined)) {
    throw new Error(
      `usage: npm run chaos -- [--minutes N] [--seed S] [--gateway | --setup ${SETUPS.join('|')}]`,
    );
  }
  installMissing({ ...SERVERS, ...CLOCKS });
  await makeCluster();
  const say = (text: string) => process.stdout.write(`${text}\n`);
  say(`seed ${seed}`);
  const result = await chaos({ minutes, seed, ...(setup !== undefined && { setup }), say });
  const { violations, directory: _, ...counts } = result;
  say(JSON.stringify({ ...counts, violations: violations.length }));
  if (violations.length > 0) say(explain(result));
  // Node may wait at its end for a socket that never closes, with a core (seen after violations, Node 24.21).
  process.exit(violations.length > 0 ? 1 : 0);
}

if (import.meta.main) await main();
