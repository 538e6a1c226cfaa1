/** Records that a command is given in a file are read as strictly as those that are posted. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readRecords } from '../../src/cli/input-file.ts';

const directory = mkdtempSync(join(tmpdir(), 'platen-records-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function recordsIn(content: string | Buffer): Promise<unknown> {
  const file = join(directory, 'records.json');
  writeFileSync(file, content);
  return await readRecords(file);
}

test.each([
  [
    'digits that a number does not keep',
    '[{},{"sscc":340123450000000018123}]',
    /340123450000000018123 .*\[1\]\.sscc/s,
  ],
  ['a field twice', '[{"sku":"A","sku":"B"}]', /"sku" twice/],
  ['Latin-1', Buffer.from('[{"name":"Müller"}]', 'latin1'), /not UTF-8/],
  ['UTF-16', Buffer.from('\ufeff[{"name":"Müller"}]', 'utf16le'), /not UTF-8/],
  ['no JSON', '[{', /not JSON/],
])('%s is refused', async (_, content, says) => {
  await expect(recordsIn(content)).rejects.toThrow(says);
});

test('a document that is taken for records is named as one', async () => {
  const file = join(directory, 'label.PRN');
  for (const content of ['\x10CT~~CD,~CC^~CT~^XA^FDx^FS^XZ', '^XA^FDcaf\xe9^FS^XZ']) {
    writeFileSync(file, content, 'latin1');
    await expect(readRecords(file)).rejects.toThrow('A document is printed with --document.');
  }
});

test('a byte order mark is not part of it, and nobody limits how many records a file has', async () => {
  expect(await recordsIn('\ufeff{"name":"Müller"}')).toEqual([{ name: 'Müller' }]);
  expect(await recordsIn(JSON.stringify(Array(40_000).fill({ a: 1 })))).toHaveLength(40_000);
});
