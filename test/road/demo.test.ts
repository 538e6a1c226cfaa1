/** The newcomer's first command: it ends well, its pictures hold what was sent, and nothing is left running. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { barcodesIn } from '../kit/judges/pictures.ts';
import { platen, temporaryDirectory } from '../kit/service/platen.ts';

test('npm run demo', async () => {
  await using directory = await temporaryDirectory();
  const out = join(directory.path, 'labels');
  const { code, stdout, stderr } = await platen(['demo', '--out', out], { TMPDIR: directory.path });
  // A busy machine takes a moment for a new database, which is said.
  const said = stderr.split('\n').filter((line) => line !== '' && !line.includes('waiting for PostgreSQL'));
  expect(said).toEqual([]);
  expect(code).toBe(0);

  const printed = async (printer: string) => {
    const files = (await readdir(join(out, printer))).filter((file) => file.endsWith('.png')).sort();
    const labels = await Promise.all(files.map((file) => barcodesIn(join(out, printer, file))));
    for (const file of files) expect(stdout).toContain(join(printer, file));
    return labels.map((symbols) => symbols.map((one) => one.format).sort());
  };
  expect(await printed('shipping')).toEqual(Array(4).fill(['Code128', 'DataMatrix']));
  expect(await printed('shelf')).toEqual(Array(3).fill(['EAN13']));
  expect(await printed('tube')).toEqual(Array(3).fill(['DataMatrix']));
  // Its data directory is gone, and with it what would have to be running.
  expect(await readdir(directory.path)).toEqual(['labels']);
});

test('where its folder cannot be made, as in a checkout that can only be read, it says so and leaves nothing', async () => {
  await using directory = await temporaryDirectory();
  const temporary = join(directory.path, 'tmp');
  await mkdir(temporary);
  // Root can write into any directory, and into no file as into one.
  await writeFile(join(directory.path, 'checkout'), '');
  const out = join(directory.path, 'checkout/demo-labels');
  const { code, stderr } = await platen(['demo', '--out', out], { TMPDIR: temporary });
  expect(code).toBe(1);
  expect(stderr).toContain('name another one, such as --out /tmp/demo-labels');
  expect(await readdir(temporary)).toEqual([]);
});
