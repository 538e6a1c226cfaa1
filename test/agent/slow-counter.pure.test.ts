/**
 * Nothing is wrong: a printer prints, and takes a while between its answer about what is pending (`~HS`) and its counter (`getvar`),
 * which are asked for in one write. In that while a label comes out, each time. It is nobody else's.
 */
import { afterEach, expect, test, vi } from 'vitest';
import { type Connection, TransportError } from '../../drivers/connection.ts';
import { zplDevice } from '../../drivers/languages/zpl/device.ts';
import { send, useSending } from '../kit/agent/sending.ts';

const { journal, sending } = useSending();
const never = new AbortController().signal;
const TOTAL = 400;
/** On the way there, and back, ms. */
const WAY = 2;

afterEach(() => vi.useRealTimers());

/** A ZPL printer that prints a label every `labelMs`, of those that it has, and `gap` ms after `~HS` answers with its counter. */
function printing(labelMs: number, gap: number, fedAt = Number.POSITIVE_INFINITY): Connection {
  const start = performance.now();
  const out = () => Math.min(TOTAL, Math.floor((performance.now() - start) / labelMs));
  const fed = () => (performance.now() >= fedAt ? 1 : 0);
  const status = () =>
    '\x02030,0,0,0800,000,0,0,0,000,0,0,0\x03\r\n' +
    `\x02000,0,0,0,1,2,6,0,${String(TOTAL - out()).padStart(8, '0')},1,000\x03\r\n\x021234,0\x03\r\n`;
  const query = async (bytes: Uint8Array, complete: (reply: Uint8Array) => boolean) => {
    vi.advanceTimersByTime(WAY);
    let reply = '';
    for (const line of Buffer.from(bytes).toString('latin1').split('\r\n')) {
      if (line === '~HS') {
        reply += status();
        // It is on its way while the printer looks for its counter.
        if (complete(Buffer.from(reply, 'latin1'))) return Buffer.from(reply, 'latin1');
      } else if (line.includes('odometer')) {
        vi.advanceTimersByTime(gap);
        reply += `"${100 + out() + fed()}"`;
      } else if (line.startsWith('!')) reply += '"ABC123"';
    }
    vi.advanceTimersByTime(WAY);
    const answer = Buffer.from(reply, 'latin1');
    if (!complete(answer)) throw new TransportError('query-timeout', 'half an answer');
    return answer;
  };
  return { query, write: async () => undefined, closed: never, close: async () => undefined };
}

async function watched(labelMs: number, gap: number, fedAt?: number) {
  vi.useFakeTimers({ toFake: ['performance'] });
  const connection = printing(labelMs, gap, fedAt);
  const habits = {};
  const job = sending(TOTAL, 100);
  send(job, Array(TOTAL).fill(1), performance.now());
  await zplDevice.status(connection, never, habits);
  for (let answers = 0; answers < 40; answers++) {
    vi.advanceTimersByTime(29);
    const status = await zplDevice.status(connection, never, habits);
    job.row.confirm(status, performance.now());
    if (journal.look(job.ledger.queueId)?.entry.odometer === null) return answers;
  }
  return 'the counter tells all the time';
}

// A label each 20 ms: 50 a second, which `docs/failures.md` speaks of; each 83 ms: 1 inch at 12 inches a second.
test.each([
  { labelMs: 20, gap: 20 },
  { labelMs: 20, gap: 45 },
  { labelMs: 83, gap: 60 },
  { labelMs: 83, gap: 150 },
  { labelMs: 250, gap: 400 },
])(
  'a label every $labelMs ms, the counter $gap ms after `~HS`: the counter tells',
  async ({ labelMs, gap }) => {
    expect(await watched(labelMs, gap)).toBe('the counter tells all the time');
  },
);

test.each([
  { labelMs: 20, gap: 2 },
  { labelMs: 83, gap: 20 },
])('a label is fed: seen where it answers fast enough ($labelMs, $gap)', async ({ labelMs, gap }) => {
  expect(await watched(labelMs, gap, 500)).toBeTypeOf('number');
});
