/** The regular expressions of the product, and what proves that they take time in proportion to the text. */
import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { parse, type Token } from 'acorn';
import { transformSync } from 'esbuild';
import { check } from 'recheck';
import { z } from 'zod';

export const root = join(import.meta.dirname, '..');
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

/** Those that take seconds to prove: the long run does. One that is changed is none of them. */
const SLOW: ReadonlySet<string> = new Set([
  String.raw`^(?:\xef\xbb\xbf)?\s*(?:;|(?:N|EPL2?|O[CDFLNPS\d,]*|q\d+|Q\d+(?:,B?\d+)*|R\d+,\d+|I8,\w+(?:,\w+)?|S\d|D\d{1,2}|Z[TB]|J[BCF]|r[NY]|f\d+|W[NY]|UN|G[KM]"[^"]*"\d*)[ \t]*(?:\r?\n|$))`,
  String.raw`^BITMAP +-?\d{1,5}, ?-?\d{1,5}, ?(?<stride>\d{1,5}), ?(?<height>\d{1,5}), ?[012],`,
  '-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----',
  String.raw`^GM"[^"\r\n]{1,40}"(?<size>\d{1,8})[ \t]*\r?\n`,
  String.raw`^0 0 (\.000244140\d*|\.000122070\d*) ([\d.]+) re\nf\n`,
  ',L[^,]|^AZTEC(?:[^,]*,){10}',
  String.raw`^(?:\xef\xbb\xbf)?\s*(?:CLS[ \t]*(?:\r?\n|$)|(?:SIZE|GAP|BLINE|DIRECTION|REFERENCE|OFFSET|SHIFT|SPEED|DENSITY|CODEPAGE|COUNTRY|SET|DOWNLOAD)[ \t]+["\w@])`,
  String.raw`\bstroke\s*[:=]\s{0,9}["']?(\w{0,9})`,
  String.raw`^PRETTY_NAME="?([^"\n]*)`,
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

export const files = globSync(['src/**/*.ts', 'drivers/**/*.ts', 'web/**/*.{ts,tsx}'], {
  cwd: root,
  exclude: ['web/dist/**', 'web/dist.*/**'],
}).sort();

const found = files.flatMap(literalsIn).filter(({ pattern }) => !REVIEWED.has(pattern));

/** The slow ones that are nowhere in the product, as one that was changed is. */
export const gone = [...SLOW].filter((slow) => !found.some(({ pattern }) => pattern === slow));

/** What is wrong with each that is not proven, by its place. */
export async function unproven(which: 'quick' | 'slow'): Promise<{ wrong: object; checked: number }> {
  const once = new Map(found.map((one) => [`/${one.pattern}/${one.flags}`, one]));
  const chosen = [...once].filter(([, { pattern }]) => SLOW.has(pattern) === (which === 'slow'));
  const wrong = new Map<string, string>();
  for (const [shown, { where, pattern, flags }] of chosen) {
    const verdict = await check(pattern, flags, { checker: 'automaton', timeout: 60_000 });
    if (verdict.status === 'safe') continue;
    wrong.set(`${where} ${shown}`, verdict.status === 'vulnerable' ? verdict.attack.pattern : 'nobody knows');
  }
  return { wrong: Object.fromEntries(wrong), checked: chosen.length };
}
