/** Room for the bodies of requests: whose turn it is, and who loses a place. */
import { expect, test, vi } from 'vitest';
import { BodyRoom } from '../../src/server/body-room.ts';

const MIB = 1024 * 1024;
const never = { signal: new AbortController().signal, lost: () => undefined };

test('a party waits for itself, and the others do not', async () => {
  const room = new BodyRoom({ total: 4 * MIB, perParty: 2 * MIB, reserve: 0 });
  const first = await room.take('a', 2 * MIB, never);
  const order: string[] = [];
  const second = room.take('a', MIB, never).then((place) => {
    order.push('a');
    return place;
  });
  const other = await room.take('b', 2 * MIB, never);
  const third = room.take('c', MIB, never).then((place) => {
    order.push('c');
    return place;
  });
  first?.leave();
  first?.leave();
  for (const place of await Promise.all([second, third])) place?.leave();
  expect(order).toEqual(['a', 'c']);
  other?.leave();
  (await room.take('a', 9 * MIB, never))?.leave();
  expect(await room.take('b', 1_000, never)).toBeUndefined();
});

test('a part of it is for parties that hold nothing, who also come first', async () => {
  const room = new BodyRoom({ total: 4 * MIB, perParty: 3 * MIB, reserve: MIB });
  const [a, b] = [await room.take('a', MIB, never), await room.take('b', MIB, never)];
  const more = [await room.take('a', MIB, never)];
  const order: string[] = [];
  const waiting = [
    room.take('a', MIB, never).then(() => order.push('a')),
    room.take('b', MIB, never).then(() => order.push('b')),
  ];
  const c = await room.take('c', MIB, never);
  waiting.push(room.take('d', MIB, never).then(() => order.push('d')));
  c?.leave();
  await waiting[2];
  expect(order).toEqual(['d']);
  for (const place of [a, b, ...more]) place?.leave();
  await Promise.all(waiting);
  expect(order).toEqual(['d', 'b', 'a']);
});

test('a slow body keeps its place until somebody waits, and one that is whole keeps it then, too', async () => {
  vi.useFakeTimers();
  try {
    const room = new BodyRoom({ total: 3 * MIB, perParty: 3 * MIB, reserve: 0 });
    const lost: string[] = [];
    const of = (name: string) => ({ ...never, lost: () => lost.push(name) });
    await room.take('a', MIB, of('slow'));
    const whole = await room.take('a', MIB, of('whole'));
    whole?.came(Number.POSITIVE_INFINITY);
    const quick = await room.take('a', MIB, of('quick'));
    quick?.came(MIB / 2);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(lost).toEqual([]);
    const next = room.take('b', MIB, never);
    await vi.advanceTimersByTimeAsync(500);
    await next;
    expect(lost).toEqual(['slow']);
  } finally {
    vi.useRealTimers();
  }
});

test('who goes away, or finds none in time, leaves nothing behind', async () => {
  vi.useFakeTimers();
  try {
    const room = new BodyRoom({ total: MIB, perParty: MIB, reserve: 0 });
    const place = await room.take('a', MIB, never);
    place?.came(Number.POSITIVE_INFINITY);
    const gone = new AbortController();
    const left = expect(room.take('b', MIB, { ...never, signal: gone.signal })).rejects.toThrow('gone');
    gone.abort(new Error('gone'));
    await left;
    const late = expect(room.take('b', MIB, never)).rejects.toMatchObject({ code: 'overloaded' });
    await vi.advanceTimersByTimeAsync(10_000);
    await late;
    place?.leave();
    (await room.take('c', MIB, never))?.leave();
  } finally {
    vi.useRealTimers();
  }
});
