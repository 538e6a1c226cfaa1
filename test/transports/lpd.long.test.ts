/** LPD: against CUPS's own server for it, and against servers that fail at each step. */

import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { DocumentPort } from '../../drivers/transports/document/document.ts';
import { standardTransports } from '../../drivers/transports/index.ts';
import { useLpd } from '../kit/programs/cups-lpd.ts';
import { startDocumentSink } from '../kit/wire/document-sink.ts';
import { peer } from '../kit/wire/peer.ts';

const signal = new AbortController().signal;
const media = { width: 50, height: 25 };
const ALL = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
const LARGE = randomBytes(300_000);
const server = useLpd();

function open(uri: string): DocumentPort {
  const port = standardTransports.documents(uri, { connect: 2_000, query: 2_000 });
  if (port === null) throw new Error('no documents');
  onTestFinished(() => port.close());
  return port;
}

const create = (port: DocumentPort, name: string) => port.create({ name, language: 'zpl', media }, signal);

/** Takes one connection after the other, each to its end. */
async function sink() {
  const device = await startDocumentSink();
  onTestFinished(() => device.stop());
  const next = async (count: number) => {
    await device.document(count - 1);
    return device.documents;
  };
  return { next, uri: device.uri };
}

test('cups-lpd: every byte value and a large document arrive as they are, each once', async () => {
  const device = await sink();
  await server().cups.addQueue('lpd_labels', device.uri);
  const port = open(`lpd://127.0.0.1:${server().port}/lpd_labels`);
  expect(await port.describe(signal)).toMatchObject({
    spooler: 'delivers',
    mediaTypes: { zpl: expect.any(String) },
  });
  for (const [index, document] of [ALL, LARGE].entries()) {
    const name = `job ${index}`;
    const job = await create(port, name);
    expect(await port.jobState(job, signal)).toMatchObject({ phase: 'held', incomplete: true, name });
    await port.send(job, '', document, signal);
    expect(await port.jobState(job, signal)).toMatchObject({ phase: 'completed', name });
    await device.next(index + 1);
  }
  expect(await device.next(2)).toEqual([ALL, LARGE]);
});

test('cups-lpd: a queue that it does not have is a refusal, and the job has not begun', async () => {
  const port = open(`lpd://127.0.0.1:${server().port}/nobody`);
  await expect(create(port, 'x')).rejects.toMatchObject({ name: 'DocumentRefusal', retryLater: true });
});

test('cups-lpd: a job that is given up before its data file prints nothing', async () => {
  const device = await sink();
  await server().cups.addQueue('given_up', device.uri);
  const port = open(`lpd://127.0.0.1:${server().port}/given_up`);
  const job = await create(port, 'given up');
  await port.cancel(job, signal);
  expect(await port.jobState(job, signal)).toMatchObject({ phase: 'aborted', began: false });
  const next = await create(port, 'next');
  await port.send(next, '', ALL, signal);
  expect(await device.next(1)).toEqual([ALL]);
});

/**
 * A server that acknowledges what `answers` says, octet by octet, and then does what `then` says.
 * @param whole how much of the data file it reads before it does any more, bytes
 */
async function failing(answers: number[], then: (socket: Socket) => void, whole = 0) {
  const got: Buffer[] = [];
  const device = await peer((socket) => {
    let step = 0;
    let data = 0;
    socket.on('data', (bytes) => {
      got.push(bytes);
      if (step === 4) data += bytes.length;
      if (data < whole && step === 4) return;
      const answer = answers[step++];
      if (answer === undefined) then(socket);
      else socket.write(Uint8Array.of(answer));
    });
    socket.resume();
  });
  return { uri: `lpd://127.0.0.1:${device.port}/q`, text: () => Buffer.concat(got).toString('latin1') };
}

test('what goes over the wire is as RFC 1179 has it', async () => {
  const device = await failing([0, 0, 0, 0, 0, 0], () => undefined);
  const port = open(device.uri);
  const job = await create(port, 'Étiquettes\n42');
  await port.send(job, '', Buffer.from('^XA^XZ'), signal);
  const [, number = '', host = ''] = /cfA(\d{3})(\S+)/.exec(device.text()) ?? [];
  const control = [
    `H${host}`,
    'Pplaten',
    'J?tiquettes?42',
    `ldfA${number}${host}`,
    `UdfA${number}${host}`,
    'N?tiquettes?42',
    '',
  ].join('\n');
  expect(device.text()).toBe(
    `\x02q\n\x02${control.length} cfA${number}${host}\n${control}\0\x036 dfA${number}${host}\n^XA^XZ\0`,
  );
});

const destroy = (socket: Socket) => void socket.destroy();

test('a connection lost before the data file: certainly nothing was taken', async () => {
  const device = await failing([0, 0, 0], destroy);
  const port = open(device.uri);
  const job = await create(port, 'x');
  await expect(port.send(job, '', ALL, signal)).rejects.toMatchObject({ code: 'connection-lost' });
  expect(await open(device.uri).jobState(job, signal)).toMatchObject({ phase: 'aborted', began: false });
});

test('a data file that is refused at its announcement: refused, and nothing was taken', async () => {
  const device = await failing([0, 0, 0, 1], destroy);
  const port = open(device.uri);
  const job = await create(port, 'x');
  await expect(port.send(job, '', ALL, signal)).rejects.toMatchObject({ name: 'DocumentRefusal' });
  expect(await port.jobState(job, signal)).toMatchObject({ phase: 'aborted', began: false });
});

test.each([
  ['lost in the middle of the data file', [0, 0, 0, 0], destroy, 1],
  ['not acknowledged after its last byte', [0, 0, 0, 0], destroy, LARGE.length + 1],
  ['answered with a fault after its last byte', [0, 0, 0, 0, 2], destroy, LARGE.length + 1],
])('a data file %s: nobody knows', async (_, answers, then, whole) => {
  const device = await failing(answers, then, whole);
  const port = open(device.uri);
  const job = await create(port, 'x');
  await expect(port.send(job, '', LARGE, signal)).rejects.toMatchObject({ name: 'TransportError' });
  expect(await port.jobState(job, signal)).toBeNull();
});

test('a job of another process is not known, and a server that says nothing is not waited for', async () => {
  const silent = await failing([], () => undefined);
  const port = standardTransports.documents(silent.uri, { query: 100 });
  await expect(port?.create({ name: 'x', language: 'zpl', media }, signal)).rejects.toMatchObject({
    code: 'query-timeout',
  });
  expect(await port?.jobState('042 other', signal)).toBeNull();
  const abort = new AbortController();
  const creating = open(silent.uri).create({ name: 'x', language: 'zpl', media }, abort.signal);
  const told = expect(creating).rejects.toThrow('the agent stops');
  await wait(20);
  abort.abort(new Error('the agent stops'));
  await told;
});
