/** What a client asks of the virtual printer that costs the process much, which serves others too. */
import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { bench, Client } from '../kit/printers/bench-printer.ts';

test('a client that does not read its answers is not read, and misses none of them', async () => {
  const { printer } = await bench();
  let received = 0;
  printer.on('received', (bytes) => {
    received += bytes.length;
  });
  // Its answers, 25 MB, are more than the system's buffers hold.
  const queries = 150_000;
  const client = new Client(printer.port);
  client.socket.pause();
  client.send('~HQOD'.repeat(queries));
  await once(printer, 'received');
  // Another client's answers come meanwhile.
  const other = new Client(printer.port);
  for (let asked = 0; asked < 20; asked++) await other.status();
  expect(received).toBeLessThan('~HQOD'.length * queries);
  let answers = 0;
  client.socket.on('data', (text: string) => {
    answers += text.split('\x03').length - 1;
  });
  client.socket.resume();
  while (answers < queries) await once(client.socket, 'data');
  expect(answers).toBe(queries);
});

test.each([
  ['as they come', {}],
  ['all at once, when the printer goes on', { paused: true }],
])('formats of a few bytes that recall much are read in turns with everything else: %s', async (_, set) => {
  const { printer } = await bench();
  const client = new Client(printer.port);
  client.send(`^XA^DFR:A^FS${'^FO1,1'.repeat(25_000)}^XZ`);
  await client.status();
  printer.set(set);
  const recalls = 24;
  // The first two labels are the one being printed and the next, behind which all others wait.
  client.send('^XA^FO1,1^FDx^FS^XZ'.repeat('paused' in set ? 2 : 0) + '^XA^XFR:A^XZ'.repeat(recalls));
  if ('paused' in set) {
    await client.status();
    printer.set({ paused: false });
  }
  let over = false;
  const done = (async () => {
    while ((await client.status())[0]?.[4] !== '000');
    over = true;
  })();
  const turns: number[] = [];
  for (let since = performance.now(); !over; since = performance.now()) {
    await turn();
    turns.push(performance.now() - since);
  }
  await done;
  // In one turn it would take most of the time.
  const busy = turns.filter((ms) => ms > 5).reduce((sum, ms) => sum + ms, 0);
  expect(Math.max(...turns)).toBeLessThan(busy / 3);
});

test('nobody makes answers for a client that has gone, and what it sent still counts', async () => {
  const { printer } = await bench();
  const queries = '~HS'.repeat(1000);
  const label = '^XA^FO1,1^GB9,9,9^FS^XZ';
  // The printer cuts the connection with all of this read, and none of it parsed.
  printer.dropConnectionAfter(queries.length + label.length);
  const looked = vi.spyOn(printer, 'state');
  const printed = once(printer, 'label');
  const client = new Client(printer.port);
  client.send(queries + label);
  await printed;
  // A label that comes out changes the printer's status now and then; a question would look each time.
  expect(looked.mock.calls.length).toBeLessThan(100);
});

test.each([{ keepsPartial: false }, { keepsPartial: true }])(
  'a format that is never completed takes no room once it is gone: %o',
  async (kept) => {
    const { printer } = await bench({ ...kept, bufferSize: 3_000 });
    const begun = `^XA^FO1,1^FD${'x'.repeat(2_000)}`;
    const [first, second] = [new Client(printer.port), new Client(printer.port)];
    first.send(begun);
    second.send(begun);
    await vi.waitUntil(() => printer.state().bufferFull);
    expect(printer.state().partialFormat).toBe(true);
    first.socket.end();
    second.socket.end();
    await Promise.all([first.closed(), second.closed()]);
    // One half at most is kept, for whoever comes next.
    await vi.waitUntil(() => !printer.state().bufferFull);
    expect(printer.state().partialFormat).toBe(kept.keepsPartial);
    // What follows a reset in the same bytes is of the connection that it has ended.
    const third = new Client(printer.port);
    third.send('~JX~JR^XA^FDx');
    await third.closed();
    expect(printer.state()).toMatchObject({ bufferFull: false, partialFormat: false });
  },
);
