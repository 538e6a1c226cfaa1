import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { TransportError } from '../../drivers/connection.ts';
import { Authorization } from '../../drivers/ipp/authorization.ts';
import { type IppClientOptions, IppStatusError } from '../../drivers/ipp/client.ts';
import { groupOf, type IppGroup, type IppMessage, stringsOf } from '../../drivers/ipp/message.ts';
import { fault } from '../kit/wire/fault.ts';
import { type Answer, httpPeer, ippAnswer } from '../kit/wire/http-peer.ts';
import { JobClient } from '../kit/wire/job-client.ts';
import { peer } from '../kit/wire/peer.ts';

const never = new AbortController().signal;
const LARGE = randomBytes(24 * 1024 * 1024);
const hash = (data: Uint8Array) => createHash('sha256').update(data).digest('hex');

const JOB: IppGroup = {
  tag: 'job',
  attributes: [
    { name: 'job-id', values: [{ tag: 'integer', value: 42 }] },
    { name: 'job-uri', values: [{ tag: 'uri', value: 'ipp://x/jobs/42' }] },
    { name: 'job-state', values: [{ tag: 'enum', value: 5 }] },
    { name: 'job-state-reasons', values: [{ tag: 'keyword', value: 'job-printing' }] },
  ],
};

function client(uri: string, options: IppClientOptions = {}): JobClient {
  const made = new JobClient(uri, options);
  onTestFinished(() => made.close());
  return made;
}

test('every operation says what it is about, in the order of RFC 8011', async () => {
  const asked: IppMessage[] = [];
  const device = await httpPeer(
    ippAnswer((request) => {
      asked.push(request);
      return { groups: [JOB, { tag: 'printer', attributes: [] }, { tag: 'printer', attributes: [] }] };
    }),
  );
  const ipp = client(device.uri, { user: 'lab' });
  await ipp.getPrinterAttributes(never, ['printer-state']);
  const job = await ipp.printJob(
    {
      name: 'Labels',
      format: 'application/pdf',
      attributes: [{ name: 'copies', values: [{ tag: 'integer', value: 2 }] }],
    },
    Buffer.from('%PDF'),
    never,
  );
  expect(job).toEqual({
    jobId: 42,
    state: 'processing',
    reasons: ['job-printing'],
  });
  await ipp.createJob({ name: 'Labels' }, never);
  await ipp.sendDocument(42, 'application/octet-stream', Buffer.from('^XA^XZ'), never);
  await ipp.getJob(42, never);
  await ipp.cancelJob(42, never);
  expect(await ipp.cupsGetPrinters(never)).toHaveLength(2);
  const common = ['attributes-charset', 'attributes-natural-language', 'printer-uri'];
  const names = asked.map((message) => [
    message.code,
    groupOf(message, 'operation')
      ?.attributes.map((attribute) => attribute.name)
      .filter((name) => !common.includes(name)),
    message.data.toString(),
  ]);
  expect(names).toEqual([
    [0x000b, ['requesting-user-name', 'requested-attributes'], ''],
    [0x0002, ['requesting-user-name', 'job-name', 'document-format'], '%PDF'],
    [0x0005, ['requesting-user-name', 'job-name'], ''],
    [0x0006, ['job-id', 'requesting-user-name', 'document-format', 'last-document'], '^XA^XZ'],
    [0x0009, ['job-id', 'requesting-user-name', 'requested-attributes'], ''],
    [0x0008, ['job-id', 'requesting-user-name'], ''],
    [0x4002, ['requesting-user-name', 'requested-attributes'], ''],
  ]);
  for (const message of asked) {
    const first = groupOf(message, 'operation')?.attributes ?? [];
    expect(first.slice(0, 3).map((attribute) => attribute.name)).toEqual(common);
    expect(stringsOf(first, 'printer-uri')).toEqual([device.uri]);
  }
  expect(new Set(asked.map((message) => message.requestId)).size).toBe(asked.length);
});

test('questions share a connection; each document has its own', async () => {
  const device = await httpPeer(ippAnswer(() => ({ groups: [JOB] })));
  const ipp = client(device.uri);
  for (let round = 0; round < 5; round++) await ipp.getJob(42, never);
  expect(device.connections()).toBe(1);
  await ipp.printJob({ format: 'text/plain' }, Buffer.from('x'), never);
  expect(device.connections()).toBe(2);
});

test('a kept connection that the printer has closed does not fail the next question', async () => {
  const device = await httpPeer((request, response) => {
    ippAnswer(() => ({ groups: [JOB] }))(request, response);
    // Answers, promises to keep the connection, and drops it.
    response.once('finish', () => setImmediate(() => request.socket.resetAndDestroy()));
  });
  const ipp = client(device.uri);
  for (let round = 0; round < 10; round++) expect((await ipp.getJob(42, never)).jobId).toBe(42);
});

test('a stream is sent as it comes, with back-pressure, and arrives whole', async () => {
  let arrived = '';
  let produced = 0;
  let producedAtFirstByte = 0;
  const device = await httpPeer(async (request, response) => {
    await once(request, 'readable');
    producedAtFirstByte = produced;
    await ippAnswer((message) => {
      arrived = hash(message.data);
      return { groups: [JOB] };
    })(request, response);
  });
  async function* stream() {
    for (let at = 0; at < LARGE.length; at += 100_000) {
      produced = at;
      yield LARGE.subarray(at, at + 100_000);
    }
  }
  await client(device.uri).printJob({ format: 'application/octet-stream' }, stream(), never);
  expect(arrived).toBe(hash(LARGE));
  expect(producedAtFirstByte).toBeLessThan(LARGE.length / 2);
});

test('a refusal carries the status, and whether later may be better', async () => {
  const codes = [0x0507, 0x040a, 0x0506, 0x0599];
  const device = await httpPeer(ippAnswer(() => ({ code: codes.shift() ?? 0 })));
  const ipp = client(device.uri);
  const print = () => fault(ipp.printJob({ format: 'text/plain' }, Buffer.from('x'), never));
  expect(await print()).toMatchObject({ statusName: 'server-error-busy', retrySafe: true });
  expect(await print()).toMatchObject({
    statusName: 'client-error-document-format-not-supported',
    retrySafe: false,
  });
  expect(await print()).toMatchObject({ status: 0x0506, retrySafe: true });
  const last = await print();
  expect(last).toBeInstanceOf(IppStatusError);
  expect(String(last)).toContain('Print-Job: 0x0599 (so it is)');
});

test('a refusal before the document is through ends the sending', async () => {
  const device = await httpPeer((request, response) => {
    request.once('data', () => {
      request.pause();
      response.writeHead(413, { connection: 'close' });
      response.end();
    });
  });
  const sending = client(device.uri).printJob({ format: 'text/plain' }, LARGE, never);
  const error = await fault(sending);
  expect(error).toMatchObject({ code: 'reply-invalid' });
  expect(String(error)).toContain('413');
});

const html: Answer = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/html' });
  response.end('<html></html>');
};
const ipp =
  (body: Buffer): Answer =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'application/ipp' });
    response.end(body);
  };

test.each<[string, Answer, string]>([
  ['a web page', html, 'reply-invalid'],
  ['nothing', ipp(Buffer.alloc(0)), 'reply-invalid'],
  ['half a message', ipp(Buffer.from([2, 0, 0, 0, 0, 0, 0, 1, 4, 0x44, 0])), 'reply-invalid'],
  ['the answer to another request', ippAnswer(() => ({ requestId: 999 })), 'reply-invalid'],
  ['no job-id', ippAnswer(() => ({ groups: [] })), 'reply-invalid'],
  ['too much', ipp(Buffer.alloc(200_000)), 'reply-too-long'],
  ['an error of its web server', (_, response) => response.writeHead(503).end(), 'reply-invalid'],
  [
    'half of what it promised',
    (request, response) => {
      response.writeHead(200, { 'content-type': 'application/ipp', 'content-length': 100 });
      response.write('half', () => request.socket.destroy());
    },
    'connection-lost',
  ],
  ['a reset', (request) => request.socket.resetAndDestroy(), 'connection-lost'],
  ['silence', () => undefined, 'query-timeout'],
])('a printer that answers with %s', async (_, answer, code) => {
  const device = await httpPeer(answer);
  const made = client(device.uri, { limits: { reply: 300, replyBytes: 100_000 } });
  const error = await fault(made.createJob({ name: 'x' }, never));
  expect(error).toBeInstanceOf(TransportError);
  expect(error).toMatchObject({ code });
});

test('a printer that stops reading, and one that does not listen', async () => {
  const deaf = await peer();
  const stuck = client(`ipp://127.0.0.1:${deaf.port}/`, { limits: { write: 200 } });
  expect(await fault(stuck.printJob({ format: 'text/plain' }, LARGE, never))).toMatchObject({
    code: 'write-timeout',
  });
  deaf.server.close();
  expect(await fault(client(`ipp://127.0.0.1:${deaf.port}/`).getJob(1, never))).toMatchObject({
    code: 'device-unreachable',
  });
});

test('a slow source of the document is not the printer being slow', async () => {
  const device = await httpPeer(ippAnswer(() => ({ groups: [JOB] })));
  async function* slow() {
    for (let piece = 0; piece < 4; piece++) {
      await new Promise((resolve) => setTimeout(resolve, 150));
      yield Buffer.from('piece');
    }
  }
  const job = client(device.uri, { limits: { write: 100 } }).printJob(
    { format: 'text/plain' },
    slow(),
    never,
  );
  expect((await job).jobId).toBe(42);
});

test('a document whose source fails', async () => {
  const device = await httpPeer((request) => void request.on('error', () => undefined).resume());
  async function* failing() {
    yield Buffer.from('piece');
    throw new Error('out of labels');
  }
  const job = client(device.uri).printJob({ format: 'text/plain' }, failing(), never);
  expect(await fault(job)).toMatchObject({ message: 'out of labels' });
});

test('abort, before, while sending and while waiting', async () => {
  const reached = Promise.withResolvers<void>();
  const device = await httpPeer((request) => {
    request.on('error', () => undefined);
    reached.resolve();
  });
  const ipp = client(device.uri);
  expect(await fault(ipp.getJob(1, AbortSignal.abort(new Error('never')))).then(String)).toContain('never');
  const abort = new AbortController();
  const sending = fault(ipp.printJob({ format: 'text/plain' }, LARGE, abort.signal));
  const waiting = fault(ipp.getJob(1, abort.signal));
  await reached.promise;
  abort.abort(new Error('enough'));
  expect(await sending).toMatchObject({ message: 'enough' });
  expect(await waiting).toMatchObject({ message: 'enough' });
});

test('credentials go into the header when they are asked for, and into nothing that is shown', async () => {
  const seen: (string | undefined)[] = [];
  const device = await httpPeer((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(401, { 'www-authenticate': 'Basic realm="lab"' }).end();
  });
  const ipp = client(device.uri, {
    authorization: new Authorization({ user: 'lab', password: 'hunter2' }, () => true),
  });
  const error = await fault(ipp.getJob(1, never));
  expect(seen).toEqual([undefined, `Basic ${Buffer.from('lab:hunter2').toString('base64')}`]);
  expect(String(error)).toContain('401');
  expect(String(error)).not.toContain('hunter2');
  expect(ipp.uri).not.toContain('hunter2');
});

test.each([
  'ipp://lab:hunter2@10.0.0.7/',
  'http://hunter2/',
  'ipp:hunter2',
  'ipp://',
  'ipp://hunter2:99999/',
])('the address %j is refused without being repeated', (uri) => {
  expect(() => new JobClient(uri)).toThrow(expect.objectContaining({ code: 'address-invalid' }));
  expect(() => new JobClient(uri)).not.toThrow('hunter2');
});

test.each([
  ['ipp://host/ipp/print', 'ipp://host:631/ipp/print'],
  ['ipp://host:80/ipp/print', 'ipp://host:80/ipp/print'],
  ['ipps://host/', 'ipps://host:631/'],
  ['IPP://[::1]:8631/printers/a%20b', 'ipp://[::1]:8631/printers/a%20b'],
])('%s is %s', (uri, expected) => {
  expect(client(uri).uri).toBe(expected);
});
