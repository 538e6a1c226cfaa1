/**
 * Every regular expression of the product takes time in proportion to the text, whatever the text is: most of them
 * see what a stranger wrote, and one that does not today may tomorrow.
 */
import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { parse, type Token } from 'acorn';
import { transformSync } from 'esbuild';
import { check } from 'recheck';
import { expect, test } from 'vitest';
import { z } from 'zod';

const root = join(import.meta.dirname, '..');
const literal = z.object({ pattern: z.string(), flags: z.string() });

/** Those that look around themselves or back: nothing proves them, so each was thought through. */
const REVIEWED: ReadonlySet<string> = new Set([
  // A run of one character; what follows it is never tried again at a place inside of the run.
  String.raw`^(.)\1*$`,
  String.raw`^(.)\1+$`,
  String.raw`(.)\1*`,
  String.raw`\[([^\]]*)\]|([A-Za-z])\2*|[^A-Za-z[]+|\[`,
  // Begins only where a word begins, and what it passes over ends at a slash: the slashes of the next one.
  String.raw`(?<![a-z0-9+.-])([a-z0-9+.-]+:\/\/)[^\s/?#]+@`,
  String.raw`(?<![!#$%&'*+.^_\`|~\w-])([!#$%&'*+.^_\`|~\w-]+)(?![!#$%&'*+.^_\`|~\w-])(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]*))|(?=\s|,|$))`.replaceAll(
    '\\`',
    '`',
  ),
  String.raw`\^|~(?=\s*[A-Za-z0-9~{])`,
  String.raw`\b(?:href|src)\s*=\s*(?!["']#)`,
  String.raw`\burl\s*\(\s*["']?(?!#)`,
  '^(?:[a-z]+-)+(?=[a-z0-9]+$)',
]);

type Found = { where: string; pattern: string; flags: string };

/** Without its types; a page's markup becomes calls, which moves its lines. */
function scriptOf(file: string): string {
  const source = readFileSync(join(root, file), 'utf8');
  if (!file.endsWith('.tsx')) return stripTypeScriptTypes(source);
  return transformSync(source, { loader: 'tsx', jsx: 'automatic', target: 'esnext' }).code;
}

function literalsIn(file: string): Found[] {
  const tokens: Token[] = [];
  parse(scriptOf(file), {
    ecmaVersion: 'latest',
    sourceType: 'module',
    locations: true,
    onToken: tokens,
  });
  return tokens
    .filter((token) => token.type.label === 'regexp')
    .map((token) => ({
      where: `${file}:${token.loc?.start.line}`,
      ...literal.parse('value' in token ? token.value : undefined),
    }));
}

const files = globSync(['src/**/*.ts', 'drivers/**/*.ts', 'web/**/*.{ts,tsx}'], {
  cwd: root,
  exclude: ['web/dist/**', 'web/dist.*/**'],
}).sort();

test('none is quadratic or worse', async () => {
  const found = files.flatMap(literalsIn);
  expect(found.length).toBeGreaterThan(200);
  const unproven = found.filter(({ pattern }) => !REVIEWED.has(pattern));
  const once = new Map(unproven.map((one) => [`/${one.pattern}/${one.flags}`, one]));
  const wrong = new Map<string, string>();
  for (const [shown, { where, pattern, flags }] of once) {
    const verdict = await check(pattern, flags, { checker: 'automaton', timeout: 60_000 });
    if (verdict.status === 'safe') continue;
    wrong.set(`${where} ${shown}`, verdict.status === 'vulnerable' ? verdict.attack.pattern : 'nobody knows');
  }
  expect(Object.fromEntries(wrong)).toEqual({});
});

test('those made at run time are made of our own words alone', () => {
  const makers = files.filter((file) => /\bRegExp\(/.test(readFileSync(join(root, file), 'utf8')));
  expect(makers).toEqual([
    // The name of a reply of the printer's, of a table here.
    'drivers/languages/zpl/replies.ts',
    // A reason of lpq's, of a table here.
    'drivers/send-queue.ts',
    // A count of digits.
    'src/render/symbol/symbology/linear.ts',
    'src/render/symbol/symbology/retail.ts',
  ]);
});
