/**
 * What `docs/extending.md` says to write, written into a copy of the sources and nothing besides: a language, a transport
 * and a provider of which nobody knows, and a label that is found, sent and made by them.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { PlatenUp } from '../kit/service/platen.ts';
import { useDirectory } from '../kit/service/use-directory.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const SAMPLE = join(ROOT, 'templates', 'shelf-50x25');
const run = promisify(execFile);

const directory = useDirectory();
let copy: string;
beforeAll(async () => {
  copy = join(directory.path, 'platen');
  for (const part of ['src', 'drivers', 'service', 'docs', 'package.json', 'tsconfig.json']) {
    await cp(join(ROOT, part), join(copy, part), { recursive: true });
  }
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  const page = await readFile(join(ROOT, 'docs', 'extending.md'), 'utf8');
  for (const [, kind, path = '', text = ''] of page.matchAll(/^```(ts|diff) (\S+)\n(.*?)^```$/gms)) {
    await (kind === 'ts' ? add(path, text) : change(path, text));
  }
});

async function add(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(copy, path)), { recursive: true });
  await writeFile(join(copy, path), text, { flag: 'wx' });
}

/** @param text lines of a file that are kept, left out or added, as they begin with a blank, `-` or `+` */
async function change(path: string, text: string): Promise<void> {
  const lines = text.trimEnd().split('\n');
  const without = (mark: string) =>
    lines
      .filter((line) => !line.startsWith(mark))
      .map((line) => `${line.slice(1)}\n`)
      .join('');
  const parts = (await readFile(join(copy, path), 'utf8')).split(without('+'));
  expect(parts, `${path} has these lines once:\n${text}`).toHaveLength(2);
  await writeFile(join(copy, path), parts.join(without('-')));
}

test('no other file needs to know: the types are whole', async () => {
  const config: unknown = JSON.parse(await readFile(join(copy, 'tsconfig.json'), 'utf8'));
  const own = { ...z.looseObject({}).parse(config), include: ['src', 'drivers'] };
  await writeFile(join(copy, 'tsconfig.json'), JSON.stringify(own));
  const { stdout } = await run(join(ROOT, 'node_modules', '.bin', 'tsc'), ['-p', copy]);
  expect(stdout).toBe('');
});

test('a printer that the provider finds prints labels in the language by the transport', async () => {
  const printers = join(directory.path, 'printers');
  await mkdir(join(printers, 'desk'), { recursive: true });
  const config = join(directory.path, 'agent.json');
  await writeFile(config, JSON.stringify({ confirmation: 'transport', discovery: { drop: printers } }));
  const dataDir = join(directory.path, 'data');
  const program = join(copy, 'service', 'platen');
  const args = ['--virtual', '0', '--agent-config', config];
  const up = await PlatenUp.start({ program, dataDir, args });
  try {
    const platen = async (...command: string[]) =>
      (await run(program, [...command, '--data', dataDir], { timeout: 60_000 })).stdout.trim();
    // By its own command line: this one does not know the language.
    const online = async () =>
      z
        .array(z.object({ status: z.string() }))
        .parse(JSON.parse(await platen('printers', '--json')))
        .some(({ status }) => status !== 'offline');
    await expect.poll(online, { timeout: 60_000 }).toBe(true);
    const id = await platen('template', 'import', `${SAMPLE}.json`);
    const records = ['--records', `${SAMPLE}.records.json`, '--copies', '2'];
    await platen('print', id, '--printer', 'desk', ...records, '--wait');
  } finally {
    await up.stop();
  }
  const files = await readdir(join(printers, 'desk'));
  const sent = await Promise.all(files.map((file) => readFile(join(printers, 'desk', file), 'latin1')));
  const count = z
    .array(z.unknown())
    .parse(JSON.parse(await readFile(`${SAMPLE}.records.json`, 'utf8'))).length;
  const labels = sent.join('').split('NEW\r\n').slice(1);
  expect(labels).toHaveLength(count);
  for (const label of labels) expect(label).toMatch(/^(DOTS \d+ \d+ \d+ \d+ .*?\r\n)+PRINT 2\r\n$/s);
  expect(new Set(labels)).toHaveLength(count);
});
