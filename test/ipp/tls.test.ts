import { X509Certificate } from 'node:crypto';
import { createServer } from 'node:https';
import { expect, onTestFinished, test } from 'vitest';
import { FirstUse, type IppTls } from '../../drivers/ipp/tls.ts';
import type { DeviceAccess } from '../../drivers/transports/document/document.ts';
import { ippsTransport } from '../../drivers/transports/document/ipp.ts';
import { selfSigned } from '../kit/wire/certificate.ts';
import { ippAnswer } from '../kit/wire/http-peer.ts';
import { JobClient } from '../kit/wire/job-client.ts';
import { listeningForTest } from '../kit/wire/listening.ts';
import { peer } from '../kit/wire/peer.ts';

const never = new AbortController().signal;

async function securePrinter() {
  const identity = selfSigned();
  const seen: string[] = [];
  const answer = ippAnswer(() => ({
    groups: [{ tag: 'job', attributes: [{ name: 'job-id', values: [{ tag: 'integer', value: 42 }] }] }],
  }));
  const server = createServer(identity, (request, response) => {
    seen.push(request.method ?? '');
    answer(request, response);
  });
  let connections = 0;
  server.on('secureConnection', () => {
    connections++;
  });
  server.on('tlsClientError', () => undefined);
  const port = await listeningForTest(server);
  const { fingerprint256 } = new X509Certificate(identity.cert);
  const uri = `ipps://127.0.0.1:${port}/ipp/print`;
  return { ...identity, fingerprint256, uri, seen, connections: () => connections };
}

function client(uri: string, tls?: IppTls): JobClient {
  const made = new JobClient(uri, { ...(tls && { tls }), limits: { connect: 2_000 } });
  onTestFinished(() => made.close());
  return made;
}

test('a printer with a certificate of its own: by the authority given, or by the certificate itself', async () => {
  const printer = await securePrinter();
  const { fingerprint256, cert } = printer;
  const plain = fingerprint256.replaceAll(':', '').toLowerCase();
  for (const tls of [{ ca: cert }, { fingerprint256 }, { fingerprint256: plain }]) {
    const ipp = client(printer.uri, tls);
    const before = printer.connections();
    for (let round = 0; round < 3; round++) expect((await ipp.getJob(42, never)).jobId).toBe(42);
    expect(printer.connections() - before).toBe(1);
    expect((await ipp.printJob({ format: 'text/plain' }, Buffer.alloc(500_000), never)).jobId).toBe(42);
  }
});

test('a certificate that nobody vouches for gets nothing, not even the question', async () => {
  const printer = await securePrinter();
  const other = await securePrinter();
  for (const tls of [undefined, { ca: other.cert }]) {
    await expect(client(printer.uri, tls).getJob(42, never)).rejects.toMatchObject({
      code: 'device-unreachable',
    });
  }
  expect(printer.seen).toEqual([]);
  // What the operator needs to know it by.
  const shown = printer.fingerprint256.replaceAll(':', '').toLowerCase();
  const pinned = client(printer.uri, { fingerprint256: other.fingerprint256 });
  const refused = pinned.getJob(42, never);
  await expect(refused).rejects.toMatchObject({ code: 'certificate-unknown' });
  await expect(refused).rejects.toThrow(shown);
  expect(printer.seen).toEqual([]);
});

test('the certificate that is shown first counts for all that follows', async () => {
  const [printer, other] = [await securePrinter(), await securePrinter()];
  const firstUse = new FirstUse();
  expect((await client(printer.uri, { firstUse }).getJob(42, never)).jobId).toBe(42);
  expect(firstUse.shown).toBe(printer.fingerprint256.replaceAll(':', '').toLowerCase());
  const elsewhere = client(other.uri, { firstUse });
  await expect(elsewhere.getJob(42, never)).rejects.toMatchObject({ code: 'certificate-unknown' });
  expect(other.seen).toEqual([]);
});

test('a password goes in clear to a certificate that somebody vouches for, and not to the first that is shown', async () => {
  const identity = selfSigned();
  const heard: string[] = [];
  const answer = ippAnswer(() => ({ groups: [{ tag: 'printer', attributes: [] }] }));
  const server = createServer(identity, (request, response) => {
    const { authorization } = request.headers;
    if (authorization !== undefined) {
      heard.push(authorization);
      answer(request, response);
    } else response.writeHead(401, { 'www-authenticate': 'Basic realm="lab"' }).end();
  });
  // Linux connects this to itself, and it is no address of the loopback, where passwords are safe.
  const uri = new URL(`ipps://0.0.0.0:${await listeningForTest(server)}/ipp/print`);
  const { fingerprint256 } = new X509Certificate(identity.cert);
  const describe = async (access: DeviceAccess) => {
    const timeouts = { connect: 2_000, write: 2_000, query: 2_000 };
    const port = ippsTransport.open(uri, timeouts, { user: 'lab', password: 'hunter2', ...access });
    onTestFinished(() => port.close());
    await port.describe(never);
  };
  await expect(describe({})).rejects.toThrow(/asks for the password itself/);
  expect(heard).toEqual([]);
  await describe({ fingerprint256 });
  await describe({ inClear: true });
  expect(heard).toEqual(Array(2).fill(`Basic ${Buffer.from('lab:hunter2').toString('base64')}`));
});

test('a device that never finishes the handshake', async () => {
  const device = await peer();
  for (const tls of [undefined, { fingerprint256: 'ab' }, { firstUse: new FirstUse() }]) {
    const uri = `ipps://127.0.0.1:${device.port}/`;
    const ipp = new JobClient(uri, { ...(tls && { tls }), limits: { connect: 200 } });
    onTestFinished(() => ipp.close());
    await expect(ipp.getJob(42, never)).rejects.toMatchObject({ code: 'connect-timeout' });
  }
});
