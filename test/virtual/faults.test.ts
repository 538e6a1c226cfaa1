/** What faults do to virtual ZPL and IPP printers, and how a fault is given to one while it runs. */
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { controlPath, startControl } from '../../src/virtual/machine/control.ts';
import { faultsOf } from '../../src/virtual/machine/faults.ts';
import { bench, Client, qr, temporaryDirectory } from '../kit/printers/bench-printer.ts';
import { ippBench, never, ZPL } from '../kit/printers/ipp-bench.ts';

test('a slow printer takes its time for each label', async () => {
  const { printer, printed } = await bench({ faults: { slow: 300 } });
  const begun = performance.now();
  new Client(printer.port).send(qr('x', '^PQ2'));
  await printed(2);
  expect(performance.now() - begun).toBeGreaterThan(590);
});

test('a silent IPP printer prints, answers when it is no longer silent, and forgets who has gone', async () => {
  const { printer, client, printed } = await ippBench();
  printer.set({ silent: true });
  const lost = expect(client.printJob({ format: ZPL }, Buffer.from(qr('a')), never)).rejects.toThrow();
  await printed(1);
  await printer.powerOff();
  await lost;
  await printer.powerOn();
  const answer = client.printJob({ format: ZPL }, Buffer.from(qr('b')), never);
  await printed(2);
  expect(printer.faultWords()).toEqual(['silent']);
  await printer.ask(faultsOf(['clear']));
  expect((await answer).jobId).toBe(2);
});

async function told() {
  const directory = await temporaryDirectory();
  const { printer } = await bench();
  const control = await startControl(directory, [printer], pino({ level: 'silent' }));
  onTestFinished(() => control[Symbol.asyncDispose]());
  const socketPath = controlPath(directory);
  const tell = async (method: string, path: string) => {
    const asking = request({ socketPath, method, path }).end();
    const [response] = await once(asking, 'response');
    return [response.statusCode, JSON.parse(await text(response))];
  };
  return { directory, printer, socketPath, tell };
}

test('it is told over a socket of its own', async () => {
  const { printer, tell } = await told();
  expect(await tell('POST', '/?printer=bench&fault=cover-open&fault=power-off')).toEqual([
    200,
    {
      printers: [
        { name: 'bench', uri: printer.uri, faults: ['cover-open', 'power-off'], waiting: 0, printed: 0 },
      ],
    },
  ]);
  await expect(once(connect(printer.port, '127.0.0.1'), 'connect')).rejects.toThrow('ECONNREFUSED');
  expect(await tell('POST', '/?printer=bench&fault=clear')).toMatchObject([
    200,
    { printers: [{ faults: [] }] },
  ]);
  expect(await tell('POST', '/?printer=bench&fault=x')).toMatchObject([400, { error: /no such fault/ }]);
  expect(await tell('POST', '/?printer=other&fault=silent')).toMatchObject([404, {}]);
  expect(await tell('DELETE', '/')).toMatchObject([405, {}]);
  expect(await tell('GET', '/')).toMatchObject([200, { printers: [{ name: 'bench' }] }]);
});

test('a power that cannot come back is said, and what is endless is cut off', async () => {
  const { printer, tell, socketPath } = await told();
  await printer.powerOff();
  const other = await bench({ port: printer.port });
  expect(await tell('POST', '/?printer=bench&fault=clear=power-off')).toMatchObject([
    500,
    { error: expect.stringContaining('EADDRINUSE') },
  ]);
  await other.printer.stop();
  expect(await tell('POST', '/?printer=bench&fault=clear')).toMatchObject([200, {}]);
  const endless = connect(socketPath);
  endless.on('error', () => undefined);
  endless.write(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(1_000_000)}`);
  if (!endless.closed) await new Promise((resolve) => endless.once('close', resolve));
  expect(await tell('GET', '/')).toMatchObject([200, {}]);
});

test('two cannot be told at one place: the second prints all the same', async () => {
  const { directory, tell } = await told();
  const { printer } = await bench({ name: 'second' });
  await using _ = await startControl(directory, [printer], pino({ level: 'silent' }));
  await using _long = await startControl(
    join(directory, 'x'.repeat(200)),
    [printer],
    pino({ level: 'silent' }),
  );
  expect(await tell('GET', '/')).toMatchObject([200, { printers: [{ name: 'bench' }] }]);
});
