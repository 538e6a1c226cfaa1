/** A virtual printer that prints for months does not fill the disk. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LabelTray } from '../../src/virtual/machine/label-tray.ts';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'platen-tray-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

test('the last labels lie there, with all that belongs to each; the count goes on', async () => {
  const tray = new LabelTray(directory, 50);
  await tray.open(undefined);
  const png = new Uint8Array([1]);
  for (let label = 1; label <= 205; label += 1) {
    await tray.add(png, new TextEncoder().encode('^XA^XZ'), label % 10 === 0 ? ['crossed out'] : []);
  }
  const names = await readdir(directory);
  const numbers = new Set(names.flatMap((name) => /^(\d{6})\./.exec(name)?.[1] ?? []));
  expect([...numbers].toSorted()).toEqual(
    Array.from({ length: 55 }, (_, index) => String(151 + index).padStart(6, '0')),
  );
  expect(names.filter((name) => name.endsWith('.error.txt'))).toHaveLength(5);
  await tray.close();

  const again = new LabelTray(directory, 50);
  await again.open(undefined);
  expect(again.odometer).toBe(205);
  await again.close();
});
