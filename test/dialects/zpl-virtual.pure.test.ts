/** The dialect and the transport together, against a printer that really prints. */
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { zplDevice } from '../../drivers/languages/zpl/device.ts';
import { standardTransports } from '../../drivers/transports/index.ts';
import { bench } from '../kit/printers/bench-printer.ts';

const never = new AbortController().signal;

test('labels are pending until they are out, and nothing is pending only when all are', async () => {
  const { printer, labels } = await bench({ name: 'Lab 3', serial: 'V1234567', speed: 20 });
  const connection = await standardTransports.open(`socket://127.0.0.1:${printer.port}`, never);
  onTestFinished(() => connection.close());
  expect(await zplDevice.identify(connection, never)).toMatchObject({
    evidence: 'serial',
    value: 'V1234567',
    name: 'Lab 3',
    dpi: 203,
  });
  expect(await zplDevice.status(connection, never)).toEqual({
    state: 'idle',
    reasons: [],
    labelsPending: 0,
    formatsPending: 0,
    odometer: 0,
  });
  printer.set({ 'media-empty': true });
  await connection.write(Buffer.from('^XA^FO20,20^A0N,30^FDlabel^FS^PQ2^XZ'.repeat(5)), never);
  const stopped = await zplDevice.status(connection, never);
  expect(stopped).toMatchObject({ state: 'stopped', reasons: ['media-empty'], odometer: 0 });
  expect(stopped.labelsPending).toBeGreaterThan(0);
  printer.set({ 'media-empty': false });
  for (;;) {
    const before = labels.length;
    const status = await zplDevice.status(connection, never);
    // The odometer is asked after the count, so it never lags behind it.
    expect(status.odometer).toBeGreaterThanOrEqual(before);
    if (status.labelsPending === 0) {
      expect(status).toMatchObject({ state: 'idle', reasons: [], labelsPending: 0, odometer: 10 });
      break;
    }
    expect(status.state).toBe('processing');
    await wait(20);
  }
  expect(labels).toHaveLength(10);
});

test('a one-way printer says nothing, and is written to all the same', async () => {
  const { printer, printed } = await bench({ faults: { silent: true } });
  const connection = await standardTransports.open(`socket://127.0.0.1:${printer.port}`, never, {
    query: 100,
  });
  onTestFinished(() => connection.close());
  expect(await zplDevice.identify(connection, never)).toBeNull();
  await expect(zplDevice.status(connection, never)).rejects.toMatchObject({ code: 'query-timeout' });
  await connection.write(Buffer.from('^XA^FO20,20^A0N,30^FDlabel^FS^XZ'), never);
  expect(await printed(1)).toHaveLength(1);
});

test('power cut: the connection is known to be gone', async () => {
  const { printer } = await bench();
  const connection = await standardTransports.open(`socket://127.0.0.1:${printer.port}`, never);
  const gone = new Promise((resolve) => connection.closed.addEventListener('abort', resolve));
  await printer.powerOff();
  await gone;
  await expect(zplDevice.status(connection, never)).rejects.toMatchObject({ code: 'connection-lost' });
});
