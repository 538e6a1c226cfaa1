/** A person cancels a job while its printer, out of paper for example, does not take the rest of a label. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { tcpTransport } from '../../drivers/transports/stream/tcp.ts';
import { timings } from '../../src/agent/config.ts';
import { Ledger } from '../../src/agent/job/ledger.ts';
import { Row } from '../../src/agent/job/row.ts';
import { StopSignals } from '../../src/agent/job/stop-signals.ts';
import { StreamDevice } from '../../src/agent/printer/stream-device.ts';
import { StreamLink } from '../../src/agent/printer/stream-link.ts';
import { logger } from '../kit/agent/site.ts';
import { useJournal } from '../kit/agent/use-journal.ts';
import { job } from '../kit/queue/samples.ts';
import { listening } from '../kit/wire/listening.ts';

const journal = useJournal();
const never = new AbortController().signal;
const HOUR = 3_600_000;

test('the label is given up some time after the press, and not when the write times out', async () => {
  const server = createServer({ pauseOnConnect: true });
  const connected = once(server, 'connection');
  const uri = `socket://127.0.0.1:${await listening(server)}`;
  const device = new StreamDevice({
    ...{ uri, dialect: null, idleMs: 1, unfinishedMs: 1, link: (of, options) => new StreamLink(of, options) },
    open: (to, signal) => tcpTransport.open(new URL(to), { connect: HOUR, write: HOUR, query: HOUR }, signal),
  });
  const cancel = new AbortController();
  const signals = new StopSignals({
    signals: { leave: never, boundary: never, end: never },
    ...{ lost: never, cancel: cancel.signal, checkTerm: () => undefined, confirmMs: 100 },
  });
  const printerId = 'address-00000001';
  const counts = { delivery: 1, total: 1, from: 0, perPage: 1 };
  const ledger = new Ledger({ journal, row: new Row(), queueId: crypto.randomUUID(), printerId, ...counts });
  const link = device.link({
    ...{ job: job(printerId), ledger, signals, logger, timings: timings.parse({}) },
    ...{ speaks: () => true, confirmation: () => 'device' },
  });
  await link.connect();
  const [printer] = (await connected) as [Socket];
  onTestFinished(() => {
    printer.destroy();
    server.close();
  });
  // More than the connection holds.
  const sending = link.send({ bytes: new Uint8Array(64_000_000), first: 0, count: 1 });
  const ended = sending.catch((error: unknown) => error);
  cancel.abort();
  expect(signals.interrupts(await ended)).toBe(true);
  expect(ledger.sent).toBe(0);
});
