/**
 * Ways to get a document of ZPL to a printer on a socket: bare, by our drivers, and by the print systems of others.
 * Each is opened once, and then sends one document after the other.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent as HttpAgent, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { IppClient } from '../drivers/ipp/client.ts';
import { encodeIpp } from '../drivers/ipp/encode.ts';
import type { IppAttribute } from '../drivers/ipp/message.ts';
import { OPERATIONS } from '../drivers/ipp/names.ts';
import { standardTransports } from '../drivers/transports/index.ts';

const run = promisify(execFile);
/** Limit for everything that one way sends, ms. */
const LIMIT_MS = 120_000;

export interface Way extends AsyncDisposable {
  /** Resolves when the next document may be sent. */
  send(document: Buffer): Promise<unknown>;
}

/** Keeps one connection; a document counts as sent when the kernel has taken it. */
export async function bareKept(uri: string): Promise<Way> {
  const { hostname, port } = new URL(uri);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  const send = (document: Buffer) =>
    new Promise<void>((resolve, reject) =>
      socket.write(document, (error) => (error ? reject(error) : resolve())),
    );
  return { send, [Symbol.asyncDispose]: async () => void socket.destroy() };
}

export async function driverKept(uri: string): Promise<Way> {
  const signal = AbortSignal.timeout(LIMIT_MS);
  const connection = await standardTransports.open(uri, signal);
  return {
    send: (document) => connection.write(document, signal),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}

/** Opens a connection for each document, and waits until the printer has closed it too. */
export async function bareEach(uri: string): Promise<Way> {
  const { hostname, port } = new URL(uri);
  const send = async (document: Buffer) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, 'connect');
    socket.resume().end(document);
    await once(socket, 'close');
  };
  return { send, [Symbol.asyncDispose]: async () => {} };
}

export async function driverEach(uri: string): Promise<Way> {
  const signal = AbortSignal.timeout(LIMIT_MS);
  const send = async (document: Buffer) => {
    const connection = await standardTransports.open(uri, signal);
    await connection.write(document, signal);
    await connection.close();
  };
  return { send, [Symbol.asyncDispose]: async () => {} };
}

/** A process of `lp` for each document. @param server `host:port` of CUPS */
export async function lpRaw(server: string, queue: string): Promise<Way> {
  const directory = mkdtempSync(join(tmpdir(), 'platen-bench-lp-'));
  const file = join(directory, 'document');
  const send = async (document: Buffer) => {
    writeFileSync(file, document);
    await run('lp', ['-h', server, '-d', queue, '-o', 'raw', file]);
  };
  return { send, [Symbol.asyncDispose]: async () => rmSync(directory, { recursive: true }) };
}

/** Sends the same prepared Print-Job request with every document, on a kept connection or on a new one. */
export async function bareIpp(uri: string, format: string, keepAlive: boolean): Promise<Way> {
  const agent = new HttpAgent({ keepAlive, maxSockets: 1 });
  const head = Buffer.from(encodeIpp(printJob(uri, format)));
  const send = async (document: Buffer) => {
    const out = request(uri.replace(/^ipp:/, 'http:'), {
      method: 'POST',
      agent,
      headers: { 'content-type': 'application/ipp', 'content-length': head.length + document.length },
    });
    out.write(head);
    out.end(document);
    const [response] = await once(out, 'response');
    const answer = await buffer(response);
    // Bytes 2 and 3: the status, below 0x0100 when the job was taken (RFC 8010 §3.1.1, RFC 8011 §4.1.6).
    if (answer.readUInt16BE(2) >= 0x0100) throw new Error(`Print-Job: status ${answer.readUInt16BE(2)}`);
  };
  return { send, [Symbol.asyncDispose]: async () => agent.destroy() };
}

type Tag = 'charset' | 'naturalLanguage' | 'uri' | 'name' | 'mimeMediaType';

function one(name: string, tag: Tag, value: string): IppAttribute {
  return { name, values: [{ tag, value }] };
}

function printJob(uri: string, format: string): Parameters<typeof encodeIpp>[0] {
  return {
    version: { major: 2, minor: 0 },
    code: OPERATIONS['Print-Job'],
    data: new Uint8Array(),
    requestId: 1,
    groups: [
      {
        tag: 'operation',
        attributes: [
          one('attributes-charset', 'charset', 'utf-8'),
          one('attributes-natural-language', 'naturalLanguage', 'en'),
          one('printer-uri', 'uri', uri),
          one('requesting-user-name', 'name', 'bench'),
          one('document-format', 'mimeMediaType', format),
        ],
      },
    ],
  };
}

/** The same request by our client, which sends each document on a connection of its own. */
export async function clientIpp(uri: string, format: string): Promise<Way> {
  const signal = AbortSignal.timeout(LIMIT_MS);
  const client = new IppClient(uri);
  const asked = [one('document-format', 'mimeMediaType', format)];
  return {
    send: (document) => client.request('Print-Job', asked, signal, [], document),
    [Symbol.asyncDispose]: async () => client.close(),
  };
}

/** As the agent does it: the printer's job is created, and its ID known, before the document is sent. */
export async function driverIpp(uri: string, format: string): Promise<Way> {
  const signal = AbortSignal.timeout(LIMIT_MS);
  const port = standardTransports.documents(uri);
  if (port === null) throw new Error('it takes no documents');
  let number = 0;
  return {
    send: async (document) => {
      const media = { width: 101.6, height: 152.4 };
      const job = await port.create({ name: `bench ${number++}`, language: 'zpl', media }, signal);
      await port.send(job, format, document, signal);
    },
    [Symbol.asyncDispose]: async () => port.close(),
  };
}
