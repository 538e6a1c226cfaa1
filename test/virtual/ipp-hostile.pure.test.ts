/** Requests that nobody should send: the printer answers or hangs up, and prints the next label. */
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { constants, deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { decodeIpp } from '../../drivers/ipp/decode.ts';
import { encodeIpp } from '../../drivers/ipp/encode.ts';
import { type IppGroup, stringsOf } from '../../drivers/ipp/message.ts';
import { OPERATIONS, type OperationName } from '../../drivers/ipp/names.ts';
import { decode, qr } from '../kit/printers/bench-printer.ts';
import { type IppBench, ippBench, never, PDF, pdfOf, ZPL } from '../kit/printers/ipp-bench.ts';
import { ippRequest } from '../kit/wire/ipp-request.ts';

/** HTTP status and body of the answer; undefined: the connection was cut. */
async function post(
  port: number,
  body: Uint8Array,
  path = '/ipp/print',
): Promise<[number, Buffer] | undefined> {
  const { promise, resolve } = Promise.withResolvers<[number, Buffer] | undefined>();
  const headers = { 'content-type': 'application/ipp', 'content-length': body.length };
  const sent = request(
    { port, host: '127.0.0.1', method: 'POST', path, headers, agent: false },
    (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => resolve([response.statusCode ?? 0, Buffer.concat(parts)]));
      response.on('error', () => resolve(undefined));
    },
  );
  sent.on('error', () => resolve(undefined));
  sent.end(body);
  return await promise;
}

function message(
  operation: OperationName,
  uri: string,
  more: IppGroup[] = [],
  data: Uint8Array = Buffer.alloc(0),
): Buffer {
  const asked = ippRequest(
    operation,
    uri,
    { name: 'document-format', values: [{ tag: 'mimeMediaType', value: PDF }] },
    { name: 'last-document', values: [{ tag: 'boolean', value: true }] },
    { name: 'job-id', values: [{ tag: 'integer', value: 1 }] },
  );
  return encodeIpp({ ...asked, groups: [...asked.groups, ...more], data });
}

async function printsOn({ client, labels, reached }: IppBench): Promise<void> {
  await client.request('Resume-Printer', [], never);
  const { jobId } = await client.printJob({ format: ZPL }, Buffer.from(qr('still here')), never);
  await reached(jobId, 'completed');
  const label = labels.find((each) => each.jobId === jobId);
  expect(await decode(label?.file ?? '')).toEqual(['still here']);
}

it('survives requests with bytes changed, cut out and put in', { timeout: 120_000 }, async () => {
  const bench = await ippBench({ documentWait: 100, idle: 1000 });
  const { printer } = bench;
  const faults: string[] = [];
  printer.on('status', ({ fault }) => {
    if (fault?.includes('Error') === true) faults.push(fault);
  });
  const job: IppGroup = {
    tag: 'job',
    attributes: [{ name: 'copies', values: [{ tag: 'integer', value: 1 }] }],
  };
  const document = pdfOf(['fuzz']);
  const operations = Object.keys(OPERATIONS) as OperationName[];
  const whole = operations.map((name) =>
    message(name, printer.uri, [job], name === 'Print-Job' ? document : undefined),
  );
  const mutated = fc
    .tuple(
      fc.constantFrom(...whole),
      fc.array(fc.tuple(fc.nat(), fc.constantFrom('change', 'cut', 'insert'), fc.nat(255)), {
        minLength: 1,
        maxLength: 4,
      }),
    )
    .map(([bytes, changes]) => {
      let changed = bytes;
      for (const [where, how, value] of changes) {
        // Mostly in the attributes; the document is the PDF reader's.
        const at = where % Math.min(changed.length, 400);
        const [before, after] = [changed.subarray(0, at), changed.subarray(at)];
        if (how === 'change') changed = Buffer.concat([before, Buffer.of(value), after.subarray(1)]);
        else if (how === 'cut') changed = Buffer.concat([before, after.subarray(1 + (value % 40))]);
        else changed = Buffer.concat([before, Buffer.alloc(1 + (value % 8), value), after]);
      }
      return changed;
    });
  let answers = 0;
  await fc.assert(
    fc.asyncProperty(fc.oneof(mutated, fc.uint8Array({ maxLength: 200 })), async (bytes) => {
      const answer = await post(printer.port, bytes);
      expect(answer).toBeDefined();
      if (answer?.[0] !== 200) return;
      decodeIpp(answer[1]);
      answers++;
    }),
    { seed: 20261101, numRuns: 600 },
  );
  expect(answers).toBeGreaterThan(300);
  expect(faults.filter((fault) => !/^job \d+: page/.test(fault))).toEqual([]);
  await printsOn(bench);
});

it('cuts off who sends attributes without end, or nothing more', async () => {
  const bench = await ippBench({ idle: 200 });
  const { printer } = bench;
  const endless = message('Get-Printer-Attributes', printer.uri).subarray(0, -1);
  const value = Buffer.concat([Buffer.from([0x44, 0, 1, 0x61, 0x7f, 0xff]), Buffer.alloc(0x7fff, 0x61)]);
  expect(
    await post(printer.port, Buffer.concat([endless, ...Array.from({ length: 40 }, () => value)])),
  ).toBeUndefined();
  const silent = connect(printer.port, '127.0.0.1');
  onTestFinished(() => void silent.destroy());
  silent.on('error', () => undefined);
  silent.write(
    'POST /ipp/print HTTP/1.1\r\nHost: x\r\nContent-Type: application/ipp\r\nContent-Length: 1000\r\n\r\n\x02',
  );
  silent.resume();
  await once(silent, 'close');
  await printsOn(bench);
});

it('answers what is no IPP with what HTTP has for it', async () => {
  const { printer } = await ippBench();
  const base = `http://127.0.0.1:${printer.port}`;
  const status = async (path: string, init?: RequestInit) => (await fetch(`${base}${path}`, init)).status;
  expect(await status('/')).toBe(200);
  expect(await status('/elsewhere')).toBe(404);
  expect(await status('/ipp/print', { method: 'PUT' })).toBe(405);
  expect(await status('/ipp/print', { method: 'POST', body: 'x' })).toBe(415);
  const headers = { 'content-type': 'application/ipp' };
  expect(await status('/elsewhere', { method: 'POST', headers, body: 'x' })).toBe(404);
});

it('refuses what RFC 8011 has refused', async () => {
  const { printer } = await ippBench();
  const [host] = [`ipp://127.0.0.1:${printer.port}`];
  const code = async (bytes: Buffer) =>
    decodeIpp((await post(printer.port, bytes))?.[1] ?? Buffer.alloc(0)).code;
  expect(await code(message('CUPS-Get-Printers', printer.uri))).toBe(0x0501);
  expect(await code(message('Get-Printer-Attributes', `${host}/somewhere/else`))).toBe(0x0406);
  expect(await code(message('Get-Printer-Attributes', 'not a uri'))).toBe(0x0400);
  expect(await code(message('Get-Job-Attributes', printer.uri))).toBe(0x0406);
  const version = message('Get-Printer-Attributes', printer.uri);
  version[0] = 9;
  expect(await code(version)).toBe(0x0503);
  const requestId = message('Get-Printer-Attributes', printer.uri);
  requestId.writeInt32BE(-5, 4);
  expect(await code(requestId)).toBe(0x0400);
});

it('gives up on a page that takes the memory of its thread, and prints the next', {
  timeout: 120_000,
}, async () => {
  const bench = await ippBench();
  const { client, reached } = bench;
  // Blocks of compressed data that end on a byte can be repeated at will: 2 MB that inflate to 4 GB.
  const block = deflateRawSync(Buffer.alloc(20_000_000, ' '), {
    level: 9,
    finishFlush: constants.Z_FULL_FLUSH,
  });
  const repeated = Array.from({ length: 200 }, () => block);
  const stream = Buffer.concat([Buffer.from([0x78, 0xda]), ...repeated, Buffer.from([0x03, 0x00])]);
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 142 71]/Contents 4 0 R>>',
  ];
  const bomb = Buffer.concat([
    Buffer.from(
      `%PDF-1.4\n${objects.map((object, index) => `${index + 1} 0 obj${object}endobj\n`).join('')}`,
    ),
    Buffer.from(`4 0 obj<</Filter/FlateDecode/Length ${stream.length}>>stream\n`),
    stream,
    Buffer.from('\nendstream endobj\ntrailer<</Root 1 0 R>>'),
  ]);
  const { jobId } = await client.printJob({ format: PDF }, bomb, never);
  expect((await reached(jobId, 'aborted')).reasons).toContain('document-unprintable-error');
  const [message] = stringsOf(await client.getJobAttributes(jobId, never), 'job-state-message');
  expect(message).toContain('took too much memory');
  await printsOn(bench);
});
