/** What a program leaves behind when an unexpected error ends it. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { writeCrashReport } from '../../src/cli/crash-report.ts';

const directory = mkdtempSync(join(tmpdir(), 'platen-crash-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const crashes = () => readdirSync(join(directory, 'crashes')).sort();

const module = JSON.stringify(join(import.meta.dirname, '../../src/cli/crash-report.ts'));
const program = `const { keepCrashReports } = await import(${module}); keepCrashReports(${JSON.stringify(directory)});
    function atTheLabel() { throw new TypeError('no room for Patient-4711', { cause: new Error('of Patient-4711') }); }
    setTimeout(atTheLabel);`;

test('a process that ends so leaves where it was, and not what it had in hand', () => {
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  });
  expect([status, stderr.includes('TypeError')]).toEqual([1, true]);
  const [file = ''] = crashes();
  const text = readFileSync(join(directory, 'crashes', file), 'utf8');
  expect(JSON.parse(text)).toMatchObject({
    origin: 'uncaughtException',
    errors: [
      { type: 'TypeError', frames: expect.arrayContaining([expect.stringContaining('atTheLabel')]) },
      { type: 'Error' },
    ],
  });
  expect(text).not.toContain('4711');
  expect(statSync(join(directory, 'crashes', file)).mode & 0o777).toBe(0o600);
});

test('a report that cannot be written whole does not take the name of one', () => {
  const before = crashes();
  const limited = [
    '-c',
    'ulimit -f 0; exec "$@"',
    'sh',
    process.execPath,
    '--input-type=module',
    '-e',
    program,
  ];
  expect(spawnSync('sh', limited).status).not.toBe(0);
  const made = crashes().filter((name) => !before.includes(name));
  expect(made).toEqual([expect.stringMatching(/\.json\.new$/)]);
});

test('the newest are kept', async () => {
  for (let round = 0; round < 15; round++) {
    writeCrashReport(directory, new Error('x'), 'test');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  expect(crashes()).toHaveLength(10);
});
