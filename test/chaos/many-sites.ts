/**
 * `npm run sites`: offices in networks of their own, with agents and printers, some behind a proxy and some over a bad line;
 * two instances behind haproxy, PostgreSQL; jobs at a fixed rate, while instances and agents are killed, put to sleep and
 * restarted, and lines are cut. With `--rolling` nothing goes wrong, and the instances are restarted one after the other.
 * At the end each label is compared with the paper (see `Round`).
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { build } from '../kit/programs/built.ts';
import { installMissing, NEEDED_BY } from '../kit/servers/debian-packages.ts';
import { selfSigned } from '../kit/wire/certificate.ts';
import { openOffices, SERVICE_ADDRESS } from './offices.ts';
import { Random } from './random.ts';
import { Round } from './round.ts';

/** The directory of a run, for the process that has the network. */
const DIRECTORY = 'PLATEN_SITES_DIRECTORY';
/** How late a label may be while the instances are restarted one after the other, ms. */
const LATEST_MS = 10_000;
const PACKAGES = ['iproute2', 'haproxy', 'squid-openssl', 'openssl', 'postgresql', 'python3'];

const number = z.coerce.number().int().min(1);
const options = z
  .object({
    agents: number.min(4).max(99).default(20),
    printers: number.max(1_000).default(100),
    minutes: z.coerce.number().positive().default(10),
    rate: z.coerce.number().positive().max(100).default(4),
    seed: number.default(28),
    rolling: z.boolean().default(false),
  })
  .parse(
    parseArgs({
      options: {
        ...{ agents: { type: 'string' }, printers: { type: 'string' }, minutes: { type: 'string' } },
        ...{ rate: { type: 'string' }, seed: { type: 'string' }, rolling: { type: 'boolean' } },
      },
    }).values,
  );

const directory = process.env[DIRECTORY];
if (directory === undefined) process.exitCode = await withNetwork();
else await run(directory);

/** Runs this file once more in a network of its own, from which nothing is left: programs built, a certificate that it trusts. */
async function withNetwork(): Promise<number> {
  const needed = Object.values(NEEDED_BY).flatMap((packages) => Object.entries(packages));
  installMissing(Object.fromEntries(needed.filter(([name]) => PACKAGES.includes(name))));
  const made = mkdtempSync(join(tmpdir(), 'platen-sites-'));
  // PostgreSQL and squid run as other users.
  chmodSync(made, 0o711);
  const { key, cert } = selfSigned(SERVICE_ADDRESS);
  writeFileSync(join(made, 'cert.pem'), cert);
  writeFileSync(join(made, 'both.pem'), cert + key, { mode: 0o600 });
  await build(join(made, 'built'));
  // With its network it has its processes: whatever ends it, none is left.
  const own = ['--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const args = [...own, process.execPath, import.meta.filename, ...process.argv.slice(2)];
  const env = { ...process.env, [DIRECTORY]: made, NODE_EXTRA_CA_CERTS: join(made, 'cert.pem') };
  const { status } = spawnSync('unshare', args, { stdio: 'inherit', env });
  if (status === 0) rmSync(made, { recursive: true, force: true });
  else process.stdout.write(`The logs of all processes are in ${made}.\n`);
  return status ?? 1;
}

async function run(home: string): Promise<void> {
  const { agents, printers, minutes, rate, seed, rolling } = options;
  const begun = Date.now();
  const say = (text: string) =>
    process.stdout.write(`${((Date.now() - begun) / 1_000).toFixed(1).padStart(7)} s  ${text}\n`);
  // The first process of its own is spared a signal that it does not listen to.
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));
  execFileSync('ip', ['link', 'set', 'lo', 'up']);
  const random = new Random(seed);
  const site = await openOffices(home, { agents, printers, rate, rolling, say });
  try {
    say(`${agents} agents, ${printers} printers, ${rate} jobs/s, ${minutes} min, seed ${seed}`);
    const round = new Round(site, random, 1_000_000, say);
    await round.run(minutes * 60_000);
    const { asked, jobs, labels, held, faults, violations, delays } = round;
    const at = (share: number) => delays[Math.min(delays.length - 1, Math.floor(share * delays.length))];
    for (const { kind, text } of violations) say(`${kind}: ${text}`);
    const out = site.printers.reduce((sum, { printer }) => sum + printer.paper.length, 0);
    say(`POSTs answered: ${jobs} of ${asked}, sent again: ${site.poster.repeated}; faults: ${faults}`);
    say(`labels asked for: ${labels}, on paper: ${out}; jobs held, decided by the paper: ${held}`);
    say(`from the answer to the paper, ms: p50 ${at(0.5)}, p99 ${at(0.99)}, at most ${at(1)}`);
    say(`violations: ${violations.length}`);
    if (violations.length > 0 || jobs < asked) process.exitCode = 1;
    if (!rolling) return;
    const isHeld = site.poster.repeated === 0 && (at(1) ?? 0) <= LATEST_MS;
    say(`no POST sent again, no label later than ${LATEST_MS / 1_000} s: ${isHeld ? 'held' : 'MISSED'}`);
    if (!isHeld) process.exitCode = 1;
  } finally {
    await site.stop();
  }
}
