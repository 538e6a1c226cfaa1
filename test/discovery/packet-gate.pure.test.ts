/** What anybody may send by multicast DNS takes no more than a share of the agent's time. */
import { expect, test } from 'vitest';
import { isReadable, PacketGate } from '../../drivers/dns-sd/packet-gate.ts';

const HEADER = 12;

/** A record of no known type, whose data are pointers, each to the one before it; and records that are called by the last. */
function chained(pointers: number, records: number): Buffer {
  const head = Buffer.alloc(HEADER);
  head.writeUInt16BE(0x8400, 2);
  head.writeUInt16BE(1 + records, 6);
  const first = Buffer.from([0, 0xff, 0, 0, 1, 0, 0, 0, 60, 0, 0]);
  const data = Buffer.alloc(1 + 2 * pointers);
  first.writeUInt16BE(data.length, 9);
  const start = HEADER + first.length;
  for (let n = 0; n < pointers; n += 1)
    data.writeUInt16BE(0xc000 + start + (n === 0 ? 0 : 2 * n - 1), 1 + 2 * n);
  const named = Buffer.from([0, 0, 0xff, 0, 0, 1, 0, 0, 0, 60, 0, 0]);
  named.writeUInt16BE(0xc000 + start + 2 * pointers - 1, 0);
  return Buffer.concat([head, first, data, ...Array.from({ length: records }, () => named)]);
}

test('names are read that point to a name, not those that point from pointer to pointer', () => {
  expect(isReadable(chained(1, 3))).toBe(true);
  expect(isReadable(chained(3, 3))).toBe(true);
  for (const pointers of [5, 100, 4_000]) expect(isReadable(chained(pointers, 3)), `${pointers}`).toBe(false);
  expect(isReadable(Buffer.alloc(0))).toBe(true);
  expect(isReadable(Buffer.alloc(9_000))).toBe(true);
  expect(isReadable(Buffer.alloc(9_001))).toBe(false);
});

test('letters of many languages in a long packet are no pointers', () => {
  const text = 'Étikettendrucker Übergröße, принтер этикеток, ラベルプリンター, 標籤打印機 ';
  expect(isReadable(Buffer.from(text.repeat(60)).subarray(0, 9_000))).toBe(true);
});

test('a quarter of the time is spent at most, 50 ms at one go, and then others are heard again', () => {
  let now = 1_000;
  let read = 0;
  const gate = new PacketGate(() => now);
  const packet = chained(1, 1);
  const takesLong = () => {
    read += 1;
    now += 30;
  };
  for (let n = 0; n < 10; n += 1) gate.pass(packet, takesLong);
  expect(read).toBe(2);
  now += 140;
  gate.pass(packet, takesLong);
  expect(read).toBe(3);
  gate.pass(chained(100, 1), takesLong);
  expect(read).toBe(3);
});
