/** `platen watch`: each file that is put into a folder is printed once, whatever happens meanwhile. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  copyFile,
  cp,
  mkdir,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import writeXlsxFile from 'write-excel-file/node';
import { pdfOf } from '../kit/documents/pdf.ts';
import { PLATEN } from '../kit/programs/built.ts';
import { PlatenUp } from '../kit/service/platen.ts';
import { useDirectory } from '../kit/service/use-directory.ts';

const NOBODY = 65_534;
const asRoot = process.getuid?.() === 0;

const directory = useDirectory();
let up: PlatenUp;
beforeAll(async () => {
  await chmod(directory.path, 0o755);
  up = await PlatenUp.start({ dataDir: join(directory.path, 'data'), args: ['--virtual', '1'] });
  await up.admin.importTemplate('default', {
    name: 'Shelf',
    language: 'zpl',
    source: '^XA^FO20,20^A0N,40,40^FD{{sku}} {{name}}^FS^XZ',
    fields: [{ name: 'sku' }, { name: 'name' }],
  });
  await up.printerOnline('virtual-1');
});
afterAll(() => up?.stop());

const running: Watcher[] = [];
afterEach(async () => {
  for (const watcher of running.splice(0)) await watcher.end('SIGKILL');
});

class Watcher {
  readonly #child: ChildProcess;
  said = '';

  constructor(folder: string, args: string[] = [], url = up.url, uid?: number, program = PLATEN) {
    const common = ['--template', 'Shelf', '--printer', 'virtual-1', '--settle', '0.3'];
    const env = { ...process.env, PLATEN_URL: url, PLATEN_ADMIN_TOKEN: up.adminToken };
    const who = uid === undefined ? {} : { uid, gid: uid };
    this.#child = spawn(program, ['watch', folder, ...common, ...args], { env, ...who });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk) => {
        this.said += String(chunk);
      });
    }
    running.push(this);
  }

  async end(signal?: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return this.#child.exitCode;
    const exit = once(this.#child, 'exit', { signal: AbortSignal.timeout(60_000) });
    if (signal !== undefined) this.#child.kill(signal);
    await exit;
    return this.#child.exitCode;
  }
}

async function folderNamed(name: string): Promise<string> {
  const folder = join(directory.path, name);
  await mkdir(folder);
  return folder;
}

const names = (...path: string[]) => readdir(join(...path)).then((all) => all.sort());
const textOf = (folder: string, path: string) => readFile(join(folder, `${path}.txt`), 'utf8');
async function jobOf(folder: string, path: string): Promise<string> {
  return /job ([0-9a-f-]{36})/.exec(await textOf(folder, path))?.[1] ?? '';
}

test('files that are whole are printed once, and what is none of them stays or is explained', async () => {
  const folder = await folderNamed('incoming');
  const watcher = new Watcher(folder);
  await expect.poll(() => watcher.said).toContain('watching');
  // Writes for longer than a file has to rest, with pauses that are longer too.
  const slow = spawn(process.execPath, [
    '-e',
    `const { openSync, writeSync } = require('node:fs');
     const file = openSync(${JSON.stringify(join(folder, 'slow.csv'))}, 'w');
     const lines = ['sku;name\\n', 'A;1\\n', 'B;2\\n', 'C;3\\n'];
     const next = () => { const line = lines.shift(); if (line) { writeSync(file, line); setTimeout(next, 1200); } };
     next();`,
  ]);
  await writeFile(join(folder, 'one.json'), '{"sku":"J","name":"1","size":"M"}');
  const sheet = [
    [{ value: 'SKU' }, { value: 'Name' }],
    [{ value: 4711 }, { value: 'Tea' }],
  ];
  await writeFile(join(folder, 'book.xlsx'), await (await writeXlsxFile(sheet)).toBuffer());
  await writeFile(join(folder, 'wrong.json'), '[{"sku":"J"},{"sku":["x"]}]');
  await writeFile(join(folder, 'other.csv'), 'a;b\n1;2\n');
  await writeFile(join(folder, 'label.pdf'), '%PDF-1.7');
  await writeFile(join(folder, 'half.csv.part'), 'sku\nA\n');
  await writeFile(join(folder, '.~lock.one.json#'), 'x');
  await writeFile(join(directory.path, 'secret.json'), '{"sku":"S","name":"1"}');
  await symlink(join(directory.path, 'secret.json'), join(folder, 'link.json'));

  await once(slow, 'exit');
  await expect
    .poll(() => names(folder, 'done'), { timeout: 90_000 })
    .toEqual(['book.xlsx', 'book.xlsx.txt', 'one.json', 'one.json.txt', 'slow.csv', 'slow.csv.txt']);
  await expect
    .poll(async () => (await up.ended(await jobOf(folder, 'done/slow.csv'))).labels.printed)
    .toBe(3);
  expect((await up.ended(await jobOf(folder, 'done/book.xlsx'))).labels.printed).toBe(1);
  await expect.poll(() => names(folder, 'failed')).toHaveLength(6);
  expect(await textOf(folder, 'done/one.json')).toContain(
    '\nWarning: fields that the template does not have: 1 [field-unknown]\n',
  );
  expect(await textOf(folder, 'failed/wrong.json')).toMatch(/^Not printed\..*\[1\]\.sku/s);
  expect(await textOf(folder, 'failed/other.csv')).toContain('expected "sku", "name"');
  expect(await textOf(folder, 'failed/label.pdf')).toContain('the template prints none');
  expect(await names(folder)).toEqual(
    ['.~lock.one.json#', 'done', 'failed', 'half.csv.part', 'link.json', 'printing'].sort(),
  );

  // The same bytes again, under its name: the same job, and both files are kept.
  await copyFile(join(folder, 'done', 'one.json'), join(folder, 'one.json'));
  await expect.poll(() => names(folder, 'done')).toContain('one (2).json.txt');
  expect(await textOf(folder, 'done/one (2).json')).toContain('nothing was printed again');
  expect(await jobOf(folder, 'done/one (2).json')).toBe(await jobOf(folder, 'done/one.json'));

  const second = new Watcher(folder);
  expect(await second.end()).toBe(1);
  expect(second.said).toContain('is watched already');
  expect(await watcher.end('SIGTERM')).toBe(0);
  expect(await names(folder, 'printing')).toEqual([]);
});

test('documents are printed by a template for them, each once, and what is none is explained', async () => {
  const folder = await folderNamed('documents');
  const fields = [{ name: 'document' }];
  await up.admin.importTemplate('default', { name: 'Carrier', language: 'document', fields });
  const watcher = new Watcher(folder, ['--template', 'Carrier']);
  await expect.poll(() => watcher.said).toContain('watching');
  const zpl = (text: string) => `^XA^FO20,20^A0N,40,40^FD${text}^FS^XZ\n`;
  await writeFile(join(folder, 'two.prn'), zpl('one') + zpl('two'));
  await writeFile(join(folder, 'page.pdf'), pdfOf([{ width: 288, height: 432, content: '9 9 90 90 re f' }]));
  await writeFile(join(folder, 'half.pdf'), '%PDF-1.7');
  await writeFile(join(folder, 'note.docx'), 'x');
  await expect
    .poll(() => names(folder, 'done'), { timeout: 90_000 })
    .toEqual(['page.pdf', 'page.pdf.txt', 'two.prn', 'two.prn.txt']);
  expect((await up.ended(await jobOf(folder, 'done/two.prn'))).labels.printed).toBe(2);
  expect((await up.ended(await jobOf(folder, 'done/page.pdf'))).labels.printed).toBe(1);
  await expect.poll(() => names(folder, 'failed')).toHaveLength(4);
  expect(await textOf(folder, 'failed/half.pdf')).toMatch(/^Not printed\.\n.*\n\nthe document is cut off/);
  expect(await textOf(folder, 'failed/note.docx')).toContain('.pdf');
  await copyFile(join(folder, 'done', 'two.prn'), join(folder, 'two.prn'));
  await expect.poll(() => names(folder, 'done')).toContain('two (2).prn.txt');
  expect(await textOf(folder, 'done/two (2).prn')).toContain('nothing was printed again');
  expect(await watcher.end('SIGTERM')).toBe(0);
});

test('killed after its job was accepted, it goes on with that job', async () => {
  const folder = await folderNamed('killed');
  const [printer] = (await up.admin.printers()).filter(({ name }) => name === 'virtual-1');
  if (printer === undefined) throw new Error('no printer');
  await up.admin.holdPrinter(printer);
  await writeFile(join(folder, 'order.csv'), 'sku;name\nkilled;1\n');
  const first = new Watcher(folder, ['--wait']);
  let note = '';
  await expect
    .poll(async () => {
      const [room = ''] = (await names(folder, 'printing')).filter((name) => !name.startsWith('.'));
      note = join(folder, 'printing', room, '.sent');
      return await readFile(note, 'utf8').catch(() => '');
    })
    .toContain('"job"');
  await first.end('SIGKILL');
  // As if it had been killed before it could write down the answer.
  const { job, ...sent } = JSON.parse(await readFile(note, 'utf8'));
  await writeFile(note, JSON.stringify(sent));
  const second = new Watcher(folder, ['--wait']);
  await expect.poll(() => readFile(note, 'utf8')).toContain('"job"');
  expect(await names(folder, 'done')).toEqual([]);
  await up.admin.actOnPrinter(printer, 'resume');
  await expect.poll(() => names(folder, 'done')).toEqual(['order.csv', 'order.csv.txt']);
  expect(await textOf(folder, 'done/order.csv')).toContain(`Printed as job ${job}.`);
  expect(await second.end('SIGTERM')).toBe(0);

  // Sent so long ago that the service may have forgotten it: nobody prints that by itself.
  const room = join(folder, 'printing', '2026');
  await mkdir(room);
  await copyFile(join(folder, 'done', 'order.csv'), join(room, 'order.csv'));
  await writeFile(join(room, '.sent'), JSON.stringify({ ...sent, since: '2026-01-01T00:00:00.000Z' }));
  const third = new Watcher(folder);
  await expect.poll(() => names(folder, 'failed')).toEqual(['order.csv', 'order.csv.txt']);
  expect(await textOf(folder, 'failed/order.csv')).toContain('not known whether this was printed');
  await third.end('SIGTERM');
});

test('a file that cannot be moved on stays, and is printed once', async () => {
  const folder = await folderNamed('full');
  await mkdir(join(folder, 'done'));
  const uid = asRoot ? NOBODY : undefined;
  if (uid !== undefined) for (const one of [folder, join(folder, 'done')]) await chown(one, uid, uid);
  const watcher = new Watcher(folder, [], up.url, uid);
  await expect.poll(() => watcher.said).toContain('watching');
  const before = (await up.admin.jobs()).length;
  // Nothing may be made in `done` while its directory is not writable: as on a full disk.
  await chmod(join(folder, 'done'), 0o555);
  await writeFile(join(folder, 'stays.json'), '{"sku":"stays","name":"1"}');
  await expect.poll(() => watcher.said).toMatch(/EACCES.*tried again/s);
  await chmod(join(folder, 'done'), 0o755);
  await expect.poll(() => names(folder, 'done')).toEqual(['stays.json', 'stays.json.txt']);
  expect(await up.admin.jobs()).toHaveLength(before + 1);
});

test('updated or taken away under it, the program ends, and the file is printed by the next one', async () => {
  const folder = await folderNamed('updated');
  const program = join(directory.path, 'program');
  await cp(dirname(dirname(PLATEN)), program, { recursive: true, verbatimSymlinks: true });
  const watcher = new Watcher(folder, [], up.url, undefined, join(program, 'service/platen'));
  await expect.poll(() => watcher.said).toContain('watching');
  await rm(join(program, 'app'), { recursive: true });
  await writeFile(join(folder, 'one.json'), '{"sku":"updated","name":"1"}');
  expect(await watcher.end()).toBe(1);
  expect(watcher.said).toContain('updated or taken away while it ran: start it again');
  expect(await names(folder, 'failed')).toEqual([]);
  const next = new Watcher(folder);
  await expect.poll(() => names(folder, 'done')).toEqual(['one.json', 'one.json.txt']);
  expect(await next.end('SIGTERM')).toBe(0);
});

test('while the service is away nothing is taken', async () => {
  const folder = await folderNamed('away');
  await writeFile(join(folder, 'one.json'), '{"sku":"away","name":"1"}');
  const watcher = new Watcher(folder, [], 'http://127.0.0.1:1');
  await expect.poll(() => watcher.said).toMatch(/does not answer.*tried again/s);
  expect(await names(folder)).toContain('one.json');
  expect(await watcher.end('SIGTERM')).toBe(0);
  await rm(folder, { recursive: true });
});
