/** Which modules a command loads: the time that it takes to begin is the time that they take to load. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { AGENT_COMMANDS } from '../../src/cli/agent-commands.ts';
import { DESCRIPTIONS } from '../../src/cli/command-descriptions.ts';
import { SERVICE_COMMANDS } from '../../src/cli/service-commands.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const directory = mkdtempSync(join(tmpdir(), 'platen-loading-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Files of ours, and packages, that a command has loaded by its end; and what it printed. */
async function loadedBy(...args: string[]): Promise<{ loaded: string[]; stdout: string }> {
  const [hook, list] = [join(directory, 'hook.mjs'), join(directory, 'loaded')];
  writeFileSync(
    hook,
    `import { registerHooks } from 'node:module';
     import { writeFileSync } from 'node:fs';
     const loaded = [];
     registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
     process.on('exit', () => {
       const own = process.moduleLoadList.filter((name) => name.includes('undici'));
       writeFileSync(${JSON.stringify(list)}, [...loaded, ...own.map((name) => 'file:' + name)].join('\\n'));
     });`,
  );
  const command = ['--import', hook, join(ROOT, 'src/main.ts'), ...args];
  const { stdout } = await run(process.execPath, command).catch((error: { stdout: string }) => error);
  const loaded = readFileSync(list, 'utf8')
    .split('\n')
    .filter((url) => url.startsWith('file:') && url !== `file://${hook}`)
    .map((url) => url.replace(`file://${ROOT}/`, '').replace(/^(node_modules\/(@[^/]+\/)?[^/]+)\/.*/, '$1'));
  return { loaded: [...new Set(loaded)], stdout };
}

test('the help names every command, and loads none', async () => {
  const { loaded, stdout } = await loadedBy('--help');
  for (const name of Object.keys({ ...SERVICE_COMMANDS, ...AGENT_COMMANDS }))
    expect(stdout).toContain(`\n  ${name} `);
  expect(loaded.length).toBeLessThanOrEqual(16);
  expect(
    loaded.filter((file) =>
      /^(drivers|src\/(agent|server|queue|render|contract)|node_modules\/(pino|zod))/.test(file),
    ),
  ).toEqual([]);
});

test('a list of printers loads what asks a service, and nothing that runs one', async () => {
  const service = { url: 'http://127.0.0.1:1', adminToken: 'nobody-listens-there' };
  writeFileSync(join(directory, 'service.json'), JSON.stringify(service));
  const { loaded } = await loadedBy('printers', '--data', directory);
  expect(loaded).toContain('src/cli/printers.ts');
  expect(loaded.filter((file) => file.startsWith('node_modules/')).sort()).toEqual([
    'node_modules/commander',
    'node_modules/zod',
  ]);
  expect(loaded.filter((file) => /^(drivers|src\/(agent|server|queue|render)\/)/.test(file))).toEqual([]);
  expect(loaded.filter((file) => /\/contract\/(admin|job|people|template)\.ts$/.test(file))).toEqual([]);
  // Of Node's own parts the one that takes the longest: `fetch`.
  expect(loaded.filter((file) => file.includes('undici'))).toEqual([]);
});

test('a service and an agent load the client of the queue that they are given, and no other', async () => {
  const { loaded } = await loadedBy('up', '--help');
  expect(loaded).toContain('src/queue/open.ts');
  expect(loaded.filter((file) => /bullmq|ioredis/.test(file))).toEqual([]);
});

test('what the help says of a command is what the command says of itself', async () => {
  const commands = { ...SERVICE_COMMANDS, ...AGENT_COMMANDS };
  const said = await Promise.all(
    Object.entries(commands).map(async ([name, load]) => [name, (await load()).description()]),
  );
  expect(DESCRIPTIONS).toEqual(Object.fromEntries(said));
});

test('every command says which version it is of', async () => {
  const { stdout } = await run(process.execPath, [join(ROOT, 'src/main.ts'), '--version']);
  for (const args of [['printers'], ['job', 'show'], ['doctor']]) {
    const told = await run(process.execPath, [join(ROOT, 'src/main.ts'), ...args, '--version']);
    expect(told.stdout).toBe(stdout);
  }
});
