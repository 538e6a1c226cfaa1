/**
 * `node bench/idle-agent.ts [PROGRAM]`: what an agent with ten printers takes of a machine on which nobody prints. Needs
 * redis-server. PROGRAM is the command line, by default this checkout's.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readStatus } from '../src/agent/status-file.ts';
import { VirtualZplPrinter } from '../src/virtual/zpl/zpl-printer.ts';
import { resident } from './memory.ts';

const PRINTERS = 10;
/** Until what was loaded for the start is given back; and how long is measured, s. */
const SETTLE = 30;
const MEASURE = 60;
/** Of `/proc/<pid>/stat`, per second (sysconf(_SC_CLK_TCK)): the same on every Linux that Node runs on. */
const TICKS = 100;

const directory = mkdtempSync(join(tmpdir(), 'platen-idle-'));
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
const socket = join(directory, 'redis.sock');
const redis = spawn(
  'redis-server',
  ['--port', '6398', '--unixsocket', socket, '--save', '', '--dir', directory],
  {
    stdio: 'ignore',
  },
);
const config = join(directory, 'agent.json');
const addresses = printers.map(({ port }) => ({ uri: `socket://127.0.0.1:${port}` }));
writeFileSync(config, JSON.stringify({ redisUrl: 'redis://127.0.0.1:6398', printers: addresses }));
const program = process.argv[2] ?? join(import.meta.dirname, '../service/platen');
const agent = spawn(program, ['agent', '--config', config, '--data', directory], { stdio: 'ignore' });
try {
  const deadline = Date.now() + 120_000;
  while ((readStatus(directory)?.report.printers.length ?? 0) < PRINTERS) {
    if (Date.now() > deadline) throw new Error('the agent does not find its printers');
    await pause(500);
  }
  await pause(SETTLE * 1_000);
  const before = ticks();
  await pause(MEASURE * 1_000);
  const share = ((ticks() - before) / TICKS / MEASURE) * 100;
  process.stdout.write(
    `${PRINTERS} printers, idle: ${Math.round(resident(agent.pid ?? 0)?.now ?? 0)} MB RSS, ${share.toFixed(2)} % of a core\n`,
  );
} finally {
  for (const child of [agent, redis]) {
    const ended = once(child, 'exit');
    if (child.kill('SIGTERM')) await ended;
  }
  for (const printer of printers) await printer.stop();
  rmSync(directory, { recursive: true, force: true });
}

/** Of the agent's process, which the launching script has become. */
function ticks(): number {
  const fields = readFileSync(`/proc/${agent.pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return Number(fields[11]) + Number(fields[12]);
}
