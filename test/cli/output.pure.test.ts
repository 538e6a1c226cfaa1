/** Commands show names that others chose, which can do nothing to the terminal or the lines around them. */
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
