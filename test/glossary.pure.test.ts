/** Whoever reads the agent and the queue learns the words of docs/architecture.md: no type is called by another. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** What every programmer calls such a thing: no ideas of ours. */
const PROGRAMMING = [
  ...['options', 'config', 'limit', 'context', 'signal', 'handler', 'event', 'error', 'logger', 'metric'],
  ...['status', 'file', 'reader', 'client', 'connection', 'script', 'backoff'],
];

const [, glossary = ''] = /^## Words\n(.*?)^## /ms.exec(read('docs/architecture.md')) ?? [];
const words = [...glossary.matchAll(/\*\*([^*]+)\*\*/g)].map(([, word = '']) => word);

const singular = (noun: string) => noun.replace(/ies$/, 'y').replace(/(?<!s)s$/, '');
/** The last word of each: a `PrinterLoop` is a loop. */
const nouns = new Set([...words.map((word) => word.split(' ').at(-1) ?? ''), ...PROGRAMMING].map(singular));

const types = globSync('src/{agent,queue}/**/*.ts', { cwd: root }).flatMap((file) =>
  [...read(file).matchAll(/^export (?:abstract )?(?:class|interface|type) (\w+)/gm)].map(([, name = '']) => ({
    file,
    name,
    noun: singular(/[A-Z][a-z]*$/.exec(name)?.[0].toLowerCase() ?? name),
  })),
);

test('the name of a type of the agent or the queue ends with a noun of the glossary', () => {
  expect(words.length).toBeGreaterThan(40);
  expect(types.length).toBeGreaterThan(100);
  expect(types.filter(({ noun }) => !nouns.has(noun))).toEqual([]);
});

test('the list of what every programmer calls so has no word too many', () => {
  const used = new Set(types.map(({ noun }) => noun));
  expect(PROGRAMMING.filter((word) => !used.has(singular(word)))).toEqual([]);
});

test('every word of the glossary is one of the code', () => {
  const code = globSync('{src,drivers}/**/*.ts', { cwd: root })
    .map((file) => read(file))
    .join('\n')
    .replaceAll(/\s+(?:\*\s+)?/g, ' ');
  expect(
    words.filter((word) => !new RegExp(`\\b${word.replace(' ', '[ -]?')}s?\\b`, 'i').test(code)),
  ).toEqual([]);
});
