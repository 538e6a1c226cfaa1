/** What the operator's page tells to type can be typed. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { platen } from '../kit/service/platen.ts';

const page = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'operator.md'), 'utf8');

test('every command and option exists', async () => {
  const typed = [...page.matchAll(/(?:^ {4}|`)platen ([a-z][^`#\n]*)/gm)].map(([, line = '']) => line.trim());
  const commands = new Map<string, Set<string>>();
  for (const line of typed) {
    const words = line.split(/ +/);
    const end = words.findIndex((word) => /^[-A-Z]/.test(word));
    const name = words.slice(0, end < 0 ? undefined : end).join(' ');
    const options = commands.get(name) ?? new Set();
    for (const word of words) if (word.startsWith('--')) options.add(word);
    commands.set(name, options);
  }
  expect([...commands.keys()]).toEqual(
    expect.arrayContaining([
      'jobs',
      'printers',
      'doctor',
      'job show',
      'job release',
      'job retry',
      'job cancel',
    ]),
  );
  for (const [name, options] of commands) {
    const { code, stdout } = await platen([...name.split(' '), '--help']);
    expect([name, code]).toEqual([name, 0]);
    expect(stdout).toContain(`Usage: platen ${name}`);
    for (const option of options) expect(stdout, name).toContain(option);
  }
});
