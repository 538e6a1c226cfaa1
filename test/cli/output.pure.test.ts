/** Commands show names that others chose, which can do nothing to the terminal or the lines around them. */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { forTerminal, table } from '../../src/cli/output.ts';

test('a name cannot set the title, clear the screen, turn text around or begin a line', () => {
  const name = '\x1b]0;owned\x07\x1b[2J\u009b31m\u202e\r\nFAKE\x7f';
  const shown = '\\u001b]0;owned\\u0007\\u001b[2J\\u009b31m\\u202e\\u000d FAKE\\u007f';
  expect(table(['NAME', 'STATUS'], [[name, 'idle']]).split('\n')).toEqual([
    `${'NAME'.padEnd(shown.length)}  STATUS`,
    `${shown}  idle`,
  ]);
});

test('texts in every script stay as they are, and texts of several lines too', () => {
  const text = 'Müller\nשלום ‎עברית‏\n東京 👩‍🔬 “x”';
  expect(forTerminal(text)).toBe(text);
});

test('what cannot be written, as on a full disk, is a failure and is said', () => {
  const main = join(import.meta.dirname, '../../src/main.ts');
  const full = openSync('/dev/full', 'w');
  const { status, stderr } = spawnSync(process.execPath, [main, '--version'], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  });
  closeSync(full);
  expect([status, stderr]).toEqual([
    1,
    expect.stringContaining('platen: what it says could not be written: ENOSPC'),
  ]);
});
