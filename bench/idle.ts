/**
 * `npm run bench:idle`: memory and CPU of the packaged agent with ten printers while nobody prints, and how
 * long short commands of the packaged program take. Needs redis-server; takes eight minutes.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { layOut } from '../service/package/layout.ts';
import { readStatus } from '../src/agent/status-file.ts';
import { VirtualZplPrinter } from '../src/virtual/zpl/zpl-printer.ts';
import { resident } from './memory.ts';
import { cpuOf } from './processes.ts';

const PRINTERS = 10;
/** s. SETTLE: until the start's memory is given back and periodic code compiled; MEASURE: what is measured. */
const SETTLE = 300;
const MEASURE = 120;
/** How often each command is run. */
const RUNS = 21;
const REDIS_PORT = 6398;

const root = join(import.meta.dirname, '..');
const directory = mkdtempSync(join(tmpdir(), 'platen-idle-'));
const program = (edition: 'agent' | 'platen') => join(directory, edition, 'bin/platen');
for (const edition of ['agent', 'platen'] as const) {
  await layOut({ root, edition, version: '0.0.0', into: join(directory, edition) });
}
const printers = Array.from(
  { length: PRINTERS },
  (_, at) =>
    new VirtualZplPrinter({
      name: `p${at}`,
      outDir: join(directory, `p${at}`),
      dpi: 203,
      width: 50,
      height: 25,
    }),
);
for (const printer of printers) await printer.start();
const redis = spawn('redis-server', ['--port', String(REDIS_PORT), '--save', '', '--dir', directory], {
  stdio: 'ignore',
});
const config = join(directory, 'agent.json');
const addresses = printers.map(({ port }) => ({ uri: `socket://127.0.0.1:${port}` }));
writeFileSync(config, JSON.stringify({ redisUrl: `redis://127.0.0.1:${REDIS_PORT}`, printers: addresses }));
const agent = spawn(program('agent'), ['agent', '--config', config, '--data', directory], {
  stdio: 'ignore',
});
const data = join(directory, 'service');
const service = spawn(program('platen'), ['up', '--data', data, '--port', '0', '--virtual', '1'], {
  stdio: ['ignore', 'pipe', 'ignore'],
});
try {
  const deadline = Date.now() + 120_000;
  while ((readStatus(directory)?.report.printers.length ?? 0) < PRINTERS) {
    if (Date.now() > deadline) throw new Error('the agent does not find its printers');
    await pause(500);
  }
  await pause(SETTLE * 1_000);
  // The launching script has become the agent's process, so this is the agent's CPU time.
  const before = cpuOf(agent.pid ?? 0);
  await pause(MEASURE * 1_000);
  const share = ((cpuOf(agent.pid ?? 0) - before) / 1_000 / MEASURE) * 100;
  process.stdout.write(
    `${PRINTERS} printers, idle: ${Math.round(resident(agent.pid ?? 0)?.now ?? 0)} MB RSS, ${share.toFixed(2)} % of a core\n`,
  );
  await once(service.stdout, 'data');
  for (const words of [['--help'], ['printers', '--data', data]]) {
    const times = Array.from({ length: RUNS }, () => timeOf(words)).sort((a, b) => a - b);
    const [fastest = 0, median = 0] = [times[0], times[RUNS >> 1]];
    process.stdout.write(
      `platen ${words[0]}: ${median.toFixed(0)} ms (median of ${RUNS}; fastest ${fastest.toFixed(0)})\n`,
    );
  }
} finally {
  for (const child of [agent, service, redis]) {
    const ended = once(child, 'exit');
    if (child.kill('SIGTERM')) await ended;
  }
  for (const printer of printers) await printer.stop();
  rmSync(directory, { recursive: true, force: true });
}

/** ms */
function timeOf(words: readonly string[]): number {
  const began = performance.now();
  const { status, stderr } = spawnSync(program('platen'), words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`platen ${words.join(' ')} ended with ${status}: ${stderr}`);
  return performance.now() - began;
}
