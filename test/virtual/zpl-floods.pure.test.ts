/** What a client asks of the virtual printer that costs the process much, which serves others too. */
import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
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
