/** What clients of the virtual IPP printer ask that costs the process much, which serves others too. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { encodeIpp } from '../../drivers/ipp/encode.ts';
import { type IppBench, ippBench, never, ZPL } from '../kit/printers/ipp-bench.ts';
import { ippRequest } from '../kit/wire/ipp-request.ts';

const MB = 1024 * 1024;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');
setFlagsFromString('--no-expose-gc');

/** Bytes that this process keeps, without garbage: that of other tests in the process, too, would count in its size. */
function kept(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function client({ printer }: IppBench): Socket {
  const socket = connect(printer.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  return socket;
}

function http(body: Buffer, more = `Content-Length: ${body.length}`): Buffer {
  const head = `POST /ipp/print HTTP/1.1\r\nHost: x\r\nContent-Type: application/ipp\r\n${more}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

/** @returns the part of this thread's CPU that the longest turn of the event loop takes while `work` is under way */
async function longestTurn(work: Promise<unknown>): Promise<number> {
  const used = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let over = false;
  let longest = 0;
  const ended = work.finally(() => {
    over = true;
  });
  const began = used();
  for (let since = began; !over; since = used()) {
    await turn();
    longest = Math.max(longest, used() - since);
  }
  await ended;
  return longest / (used() - began);
}

test('requests by the thousand at once: a connection has eight under way, and others are served meanwhile', async () => {
  const bench = await ippBench();
  const asked = http(encodeIpp(ippRequest('Get-Printer-Attributes', bench.printer.uri)));
  const floods = Array.from({ length: 8 }, () => client(bench));
  const cut = floods.map((socket) => new Promise((resolve) => socket.resume().once('close', resolve)));
  const longest = await longestTurn(
    (async () => {
      for (const socket of floods) socket.write(Buffer.concat(Array.from({ length: 5_000 }, () => asked)));
      for (let count = 0; count < 10; count++) await bench.client.getPrinterAttributes(never);
      await Promise.all(cut);
    })(),
  );
  // In one turn it would take most of the time.
  expect(longest).toBeLessThan(1 / 3);
});

test('a document of pieces of one byte takes little more memory than its bytes', async () => {
  const bench = await ippBench();
  const socket = client(bench);
  const head = encodeIpp(
    ippRequest('Print-Job', bench.printer.uri, {
      name: 'document-format',
      values: [{ tag: 'mimeMediaType', value: ZPL }],
    }),
  );
  const pieces = 300_000;
  const began = once(bench.printer, 'request');
  socket.write(
    http(
      Buffer.concat([Buffer.from(`${head.length.toString(16)}\r\n`), head, Buffer.from('\r\n')]),
      'Transfer-Encoding: chunked',
    ),
  );
  await began;
  const before = kept();
  // Less than nothing, where what others left behind goes meanwhile.
  let most = Number.NEGATIVE_INFINITY;
  const watch = setInterval(() => {
    most = Math.max(most, kept() - before);
  }, 200);
  const sent = Buffer.from(`${'1\r\n \r\n'.repeat(pieces)}0\r\n\r\n`);
  const answer = once(socket, 'data');
  const longest = await longestTurn(
    (async () => {
      socket.write(sent);
      await answer;
    })(),
  );
  clearInterval(watch);
  expect(longest).toBeLessThan(1 / 3);
  expect(most).toBeGreaterThan(Number.NEGATIVE_INFINITY);
  expect(most).toBeLessThan(20 * MB);
});

test('what a packed document unpacks to counts in the spool', async () => {
  const bench = await ippBench({ documentLimit: 4 * MB, spool: 10 * MB });
  const { client: sender, printer } = bench;
  printer.set({ paused: true });
  const packed = gzipSync(Buffer.alloc(4 * MB, ' '));
  const send = () =>
    sender.request(
      'Print-Job',
      [
        { name: 'compression', values: [{ tag: 'keyword', value: 'gzip' }] },
        { name: 'document-format', values: [{ tag: 'mimeMediaType', value: ZPL }] },
      ],
      never,
      [],
      packed,
    );
  for (let count = 0; count < 2; count++) await send();
  await expect(send()).rejects.toMatchObject({ message: expect.stringContaining('temporary-error') });
});
