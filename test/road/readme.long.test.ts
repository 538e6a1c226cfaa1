/**
 * What the README tells a newcomer to type, typed as it stands. Only the ports are replaced, since a test has none of
 * its own.
 */
import { execFile } from 'node:child_process';
import { access, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { barcodesIn } from '../kit/judges/pictures.ts';
import { onPath } from '../kit/servers/debian-packages.ts';
import { PlatenUp } from '../kit/service/platen.ts';
import { useDirectory } from '../kit/service/use-directory.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** What `npm run setup -- --link` does once the packages are there. */
const LINK = join(ROOT, 'service', 'link.cjs');
const readme = await readFile(join(ROOT, 'README.md'), 'utf8');

/** The indented lines of a section. */
function commands(heading: string): string[] {
  const section = readme.split(/^## /m).find((text) => text.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`the README has no section "${heading}"`);
  return section.split('\n').flatMap((line) => (line.startsWith('    ') ? [line.slice(4)] : []));
}

const directory = useDirectory();
let bin: string;
let up: PlatenUp;
beforeAll(async () => {
  await symlink(join(ROOT, 'templates'), join(directory.path, 'templates'));
  bin = join(directory.path, 'bin');
  await promisify(execFile)(process.execPath, [LINK, bin]);
  up = await PlatenUp.start({ dataDir: join(directory.path, 'data'), args: ['--virtual', '1'] });
});
afterAll(() => up?.stop());

/** As in a terminal, in the directory in which `platen up` was started. */
async function type(script: string, env: Record<string, string> = {}): Promise<string> {
  const typed = script.replaceAll('http://127.0.0.1:8310', up.url);
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', typed], {
    cwd: directory.path,
    env: { ...process.env, PATH: `${bin}:${process.env['PATH']}`, ...env },
    timeout: 120_000,
  });
  return stdout;
}

/** Puts a `curl` before the real one on the PATH, which writes down what the process list would show of it. */
async function curlThatTells(): Promise<() => Promise<string>> {
  const log = join(directory.path, 'curl.log');
  const curl = onPath('curl');
  const script = `#!/bin/sh\necho "$*" >>'${log}'\nexec ${curl} "$@"\n`;
  await writeFile(join(bin, 'curl'), script, { mode: 0o755 });
  return () => readFile(log, 'utf8');
}

test('Commands', async () => {
  const [setup, start, ...rest] = commands('Commands');
  expect(setup).toMatch(/^npm run setup -- --link\b/);
  // The one that runs on is running already.
  expect(start).toMatch(/^platen up --data \.\/data --port \d+ --virtual 1 /);
  expect(rest.length).toBeGreaterThan(3);
  for (const line of rest) await type(line);
  const [picture] = await up.pictures();
  expect(await barcodesIn(picture ?? '')).toMatchObject([{ format: 'EAN13' }]);
  const previews = (await readdir(directory.path)).filter((file) => /^shelf.*\.png$/.test(file));
  expect(previews).not.toEqual([]);
  for (const file of previews) {
    expect(await barcodesIn(join(directory.path, file))).toMatchObject([{ format: 'EAN13' }]);
  }
});

test('what is on the PATH already, and is something else, stays there', async () => {
  const elsewhere = join(directory.path, 'elsewhere');
  await mkdir(elsewhere);
  await writeFile(join(elsewhere, 'platen'), 'mine');
  const refused = promisify(execFile)(process.execPath, [LINK, elsewhere]);
  await expect(refused).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('something else') });
  expect(await readFile(join(elsewhere, 'platen'), 'utf8')).toBe('mine');
});

test('Send a job over HTTP', async () => {
  const lines = commands('Send a job over HTTP').join('\n');
  const [create = '', token = '', send = '', ask = '', ...more] = lines.split(/(?<!\\)\n(?! )/);
  expect(more).toEqual([]);
  const account = z
    .object({ apiKey: z.string(), apiSecret: z.string() })
    .parse(JSON.parse(await type(`${create} --json`)));
  const template = (await type('platen template import templates/shelf-50x25.json')).trim();
  const shown = await curlThatTells();
  const secrets = { API_KEY: account.apiKey, API_SECRET: account.apiSecret };
  const answer = await type(`${token}\n${send.replace('TEMPLATE_ID', template)}`, secrets);
  const [id] = z.tuple([z.string()]).parse(JSON.parse(answer));
  expect(await up.ended(id)).toMatchObject({ status: 'printed', labels: { total: 2, printed: 2 } });
  const state: unknown = JSON.parse(await type(`${token}\n${ask.replace('JOB_ID', id)}`, secrets));
  expect(state).toMatchObject({ id, status: 'printed', labels: { total: 2, printed: 2 } });
  const commandLines = await shown();
  expect(commandLines).toContain('/oauth/token');
  expect(commandLines).not.toContain(account.apiSecret);
  expect(commandLines).not.toMatch(/bearer/i);
});

test('the files that it links to are there', async () => {
  const links = [...readme.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link);
  expect(links.length).toBeGreaterThan(5);
  for (const link of links) {
    const [page = '', anchor] = link.split('#');
    await access(join(ROOT, page));
    if (anchor === undefined) continue;
    const headings = (await readFile(join(ROOT, page), 'utf8')).match(/^#+ .+$/gm) ?? [];
    const anchors = headings.map((line) =>
      line
        .replace(/^#+ /, '')
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    );
    expect(anchors, link).toContain(anchor);
  }
});
