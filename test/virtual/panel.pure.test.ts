/** What happens at the panel, or in the printer, without a word to whoever has sent the labels. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import type { LostFormat } from '../../src/virtual/zpl/zpl-printer.ts';
import { bench, Client, codesOn, qr } from '../kit/printers/bench-printer.ts';

async function losing(options: Parameters<typeof bench>[0] = {}) {
  const bed = await bench(options);
  const lost: LostFormat[] = [];
  bed.printer.on('lost', (format) => lost.push(format));
  return { ...bed, lost, client: new Client(bed.printer.port) };
}

it('CANCEL ends the format that prints, or all; connection and counter stay, and ~HS says nothing of it', async () => {
  const { printer, printed, labels, lost, client } = await losing();
  client.send(`${qr('a')}`);
  await printed(1);
  printer.set({ paused: true });
  client.send(`${qr('b', '^PQ4')}${qr('c')}${qr('d')}`);
  expect((await client.status())[1]?.[8]).toBe('00000004');
  printer.cancel();
  while (lost.length < 1) await once(printer, 'lost');
  expect(lost).toMatchObject([{ by: 'cancel', printed: 0 }]);
  const [first, second] = await client.status();
  expect([first?.[4], second?.[8]]).toEqual(['001', '00000001']);
  printer.cancel('all');
  while (lost.length < 3) await once(printer, 'lost');
  const [after, rest] = await client.status();
  expect([after?.[4], rest?.[8]]).toEqual(['000', '00000000']);
  printer.set({ paused: false });
  client.send(qr('e'));
  await printed(2);
  expect(await codesOn(labels)).toEqual([['a'], ['e']]);
  expect(await client.getvar('odometer.total_label_count')).toBe('"2"');
});

it('a format that is dropped in silence is gone, whatever ~HS said', async () => {
  const { printer, printed, labels, lost, client } = await losing();
  printer.dropFormats(2);
  client.send(`${qr('a')}${qr('b', '^PQ2')}${qr('c')}`);
  await printed(1);
  expect(lost.map(({ by, raw }) => [by, raw.toString('latin1')])).toEqual([
    ['drop', qr('a')],
    ['drop', qr('b', '^PQ2')],
  ]);
  expect(await codesOn(labels)).toEqual([['c']]);
});

it('the feed button puts out a blank label, and counts it', async () => {
  const { printer, printed, client } = await losing();
  printer.feed();
  await printed(1);
  printer.set({ paused: true });
  client.send(qr('x'));
  printer.feed(2);
  const labels = await printed(3);
  expect(await readFile(labels[2]?.rawFile ?? '', 'latin1')).toBe('');
  expect(printer.odometer).toBe(3);
  printer.set({ paused: false });
  await printed(4);
});

it('a format that a broken connection leaves unfinished is gone on with by the next, until ~JX', async () => {
  const { printer, printed, labels, client } = await losing({ keepsPartial: true });
  printer.dropConnectionAfter(10);
  client.send(qr('over'));
  await client.closed();
  const next = new Client(printer.port);
  expect((await next.status())[0]?.[7]).toBe('1');
  next.send(`^FS${qr('printed')}`);
  await printed(1);
  expect(await readFile(labels[0]?.rawFile ?? '', 'latin1')).toBe(
    `${qr('over').slice(0, 10)}~HS^FS${qr('printed')}`,
  );
  printer.dropConnectionAfter(10);
  next.send(qr('over'));
  await next.closed();
  const last = new Client(printer.port);
  last.send(`~JX${qr('whole')}`);
  await printed(2);
  expect(await readFile(labels[1]?.rawFile ?? '', 'latin1')).toBe(qr('whole'));
});

it('counts no labels where it is told not to', async () => {
  const { client } = await losing({ countsLabels: false });
  expect(await client.getvar('odometer.total_label_count')).toBe('"?"');
});
