/** The file of a back-up: what comes back out of it, and that a file which is not whole is never taken for one. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { type BackupPart, readBackup, writeBackup } from '../../src/server/store/backup/backup-file.ts';

const directory = mkdtempSync(join(tmpdir(), 'platen-backup-'));
afterAll(() => rmSync(directory, { recursive: true }));

const ABOUT = {
  platen: '1.2.3',
  at: '2026-11-26T08:00:00.000Z',
  schema: [{ name: '0001-platen.sql', sha256: 'ab' }],
};
const never = new AbortController().signal;
const rows = (text: string): BackupPart => ({ kind: 'rows', bytes: Buffer.from(text) });
const PARTS: BackupPart[] = [
  { kind: 'table', table: 'jobs', columns: ['id', 'status'] },
  rows('1\tprinted\n'),
  rows('2\theld\n'),
  { kind: 'table', table: 'tenants', columns: ['id'] },
  { kind: 'counters', counters: [{ name: 'jobs_seq_seq', last: '9007199254740993' }] },
];

async function* stream(parts: Iterable<BackupPart>): AsyncGenerator<BackupPart> {
  yield* parts;
}

async function written(name: string, parts: Iterable<BackupPart> = PARTS): Promise<string> {
  const file = join(directory, name);
  await writeBackup(file, ABOUT, stream(parts), never);
  return file;
}

async function read(file: string): Promise<BackupPart[]> {
  return await Array.fromAsync(readBackup(file));
}

test('has what was put into it, for its owner alone', async () => {
  const file = await written('whole');
  expect(await read(file)).toEqual(PARTS);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('keeps pieces small, however large a row is', async () => {
  const large = Buffer.alloc(3_500_000, 'x');
  const [table, ...pieces] = await read(
    await written('large', [
      { kind: 'table', table: 'jobs', columns: ['id'] },
      { kind: 'rows', bytes: large },
    ]),
  );
  expect(table?.kind).toBe('table');
  const bytes = pieces.map((part) => (part.kind === 'rows' ? part.bytes : Buffer.alloc(0)));
  expect(Math.max(...bytes.map(({ length }) => length))).toBeLessThanOrEqual(1024 * 1024);
  expect(Buffer.concat(bytes).equals(large)).toBe(true);
});

test('does not take the place of another file, and leaves none behind that is not whole', async () => {
  const file = await written('first');
  await expect(written('first')).rejects.toMatchObject({ code: 'exists' });
  expect(await read(file)).toEqual(PARTS);
  const broken = join(directory, 'broken');
  const parts = (async function* (): AsyncGenerator<BackupPart> {
    yield rows('1\n');
    throw new Error('the database went away');
  })();
  await expect(writeBackup(broken, ABOUT, parts, never)).rejects.toThrow('went away');
  for (const name of [broken, `${broken}.part`])
    expect(statSync(name, { throwIfNoEntry: false })).toBe(undefined);
});

test('cut off anywhere, it is not read to its end', async () => {
  const whole = readFileSync(await written('to-cut'));
  const head = whole.indexOf('\n') + 1;
  for (let length = head; length < whole.length; length += 1) {
    const file = join(directory, 'cut');
    writeFileSync(file, whole.subarray(0, length));
    await expect(read(file), `${length} bytes`).rejects.toMatchObject({ code: 'damaged' });
  }
});

test('changed anywhere, in the file or under its compression, it is not read to its end', async () => {
  const whole = readFileSync(await written('to-change'));
  const head = whole.indexOf('\n') + 1;
  const changed = (bytes: Buffer, at: number) => {
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] ?? 0) ^ 1;
    return copy;
  };
  const frames = gunzipSync(whole.subarray(head));
  const inside = Array.from({ length: frames.length }, (_, at) =>
    Buffer.concat([whole.subarray(0, head), gzipSync(changed(frames, at))]),
  );
  const first = whole.indexOf('2026');
  const files = [...inside, changed(whole, first), Buffer.concat([whole, gzipSync(frames)])];
  for (const [number, bytes] of files.entries()) {
    const file = join(directory, 'changed');
    writeFileSync(file, bytes);
    await expect(read(file), `change ${number}`).rejects.toMatchObject({ code: 'damaged' });
  }
});

test('of a later form it says which version reads it', async () => {
  const file = join(directory, 'later');
  writeFileSync(file, `${JSON.stringify({ ...ABOUT, format: 'platen-backup', version: 2 })}\nwhatever`);
  await expect(read(file)).rejects.toMatchObject({
    code: 'newer',
    message: `${file} was written by Platen 1.2.3 in form 2; this version reads form 1: restore it with that version, or a later one`,
  });
});

test.each(['', 'PGDMP\n', '{"format":"other"}\n', `${'x'.repeat(100_000)}\n`])(
  'is not taken for one: %j',
  async (text) => {
    const file = join(directory, 'other');
    writeFileSync(file, text);
    await expect(read(file)).rejects.toMatchObject({ code: 'not-a-backup' });
  },
);
