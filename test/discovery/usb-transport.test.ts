import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, open, readdir, readlink, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parseAddress } from '../../drivers/address.ts';
import { type Connection, TransportError, transportTimeouts } from '../../drivers/connection.ts';
import { usbTransportAt } from '../../drivers/transports/stream/usb.ts';
import { ptyAt } from '../kit/programs/pty.ts';
import { answering } from '../kit/wire/peer.ts';
import { type FakeSysfs, fakeSysfs } from './sysfs.ts';

const URI = 'usb://0a5f/0166/serial/D4J193601234';
const PLUGGED = { node: 'lp0', port: '1-1', serial: 'D4J193601234' };
const signal = AbortSignal.timeout(120_000);

async function devices(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'platen-usb-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

function openAt(
  sysfs: FakeSysfs,
  directory: string,
  uri = URI,
  timeouts: Partial<ReturnType<typeof transportTimeouts.parse>> = {},
): Promise<Connection> {
  const transport = usbTransportAt({ sysfs: sysfs.root, devices: directory });
  return transport.open(parseAddress(uri), transportTimeouts.parse(timeouts), signal);
}

async function connected(
  timeouts: Parameters<typeof openAt>[3] = {},
): Promise<{ connection: Connection; printer: Socket }> {
  const sysfs = await fakeSysfs(PLUGGED);
  const directory = await devices();
  const printer = await ptyAt(join(directory, 'lp0'));
  const connection = await openAt(sysfs, directory, URI, timeouts);
  onTestFinished(() => connection.close());
  return { connection, printer };
}

async function faultOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof TransportError) return error.code;
    throw error;
  }
  return 'done';
}

async function received(printer: Socket, length: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let have = 0;
  while (have < length) {
    const [part] = await once(printer.resume(), 'data');
    parts.push(part);
    have += part.length;
  }
  return Buffer.concat(parts);
}

test('every byte arrives, in order, whatever its value', async () => {
  const { connection, printer } = await connected();
  const sent = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7 + (index >> 8)) & 0xff));
  const [arrived] = await Promise.all([received(printer, sent.length), connection.write(sent, signal)]);
  expect(arrived.equals(sent)).toBe(true);
});

test('a question is answered', async () => {
  const { connection, printer } = await connected();
  answering((line) => (line === '~HI' ? '\u0002ZD421,V1,8,2104KB\u0003' : undefined))(printer);
  for (const _ of [1, 2]) {
    const reply = await connection.query(Buffer.from('~HI\r\n'), (got) => got.includes(3), { signal });
    expect(String(reply)).toBe('\u0002ZD421,V1,8,2104KB\u0003');
  }
});

test('what came before a question is no answer to it', async () => {
  const sysfs = await fakeSysfs(PLUGGED);
  const directory = await devices();
  // Here the device repeats what it is sent: a pipe, of which both ends are ours.
  execFileSync('mkfifo', [join(directory, 'lp0')]);
  const connection = await openAt(sysfs, directory);
  onTestFinished(() => connection.close());
  await connection.write(Buffer.from('late answer\u0003'), signal);
  const reply = await connection.query(Buffer.from('~HI\u0003'), (got) => got.includes(3), { signal });
  expect(String(reply)).toBe('~HI\u0003');
});

test('a printer that does not answer, answers too much, or goes away', async () => {
  const { connection, printer } = await connected({ query: 200 });
  printer.resume();
  expect(await faultOf(connection.query(Buffer.from('?'), () => false, { signal }))).toBe('query-timeout');
  expect(connection.closed.aborted).toBe(false);
  printer.on('data', () => printer.write('x'.repeat(5_000)));
  expect(await faultOf(connection.query(Buffer.from('?'), () => false, { signal, maxBytes: 100 }))).toBe(
    'reply-too-long',
  );
  printer.destroy();
  expect(await faultOf(connection.query(Buffer.from('?'), () => false, { signal, timeoutMs: 20_000 }))).toBe(
    'connection-lost',
  );
  expect(connection.closed.aborted).toBe(true);
  expect(await faultOf(connection.write(Buffer.from('x'), signal))).toBe('connection-lost');
});

test('a printer that takes no data: the write ends, and the connection with it', async () => {
  const { connection } = await connected({ write: 300 });
  // More than pseudo-terminal, socat and sockets can hold.
  expect(await faultOf(connection.write(Buffer.alloc(32 * 1024 * 1024), signal))).toBe('write-timeout');
  expect(connection.closed.aborted).toBe(true);
});

test('aborted in the middle of a write: the connection ends; while waiting its turn: it does not', async () => {
  const { connection, printer } = await connected();
  const abort = new AbortController();
  const stuck = connection.write(Buffer.alloc(32 * 1024 * 1024), abort.signal);
  const given = new AbortController();
  const waiting = connection.write(Buffer.from('x'), given.signal);
  given.abort(new Error('gave up'));
  await expect(waiting).rejects.toThrow('gave up');
  expect(connection.closed.aborted).toBe(false);
  await once(printer.resume(), 'data');
  printer.pause();
  abort.abort(new Error('stop'));
  await expect(stuck).rejects.toThrow('stop');
  expect(await faultOf(connection.write(Buffer.from('x'), signal))).toBe('connection-lost');
});

test('the address finds the device at whatever node it is now', async () => {
  const sysfs = await fakeSysfs({ ...PLUGGED, node: 'lp0', serial: 'OTHER1' });
  await sysfs.plug({ ...PLUGGED, node: 'lp7', port: '1-4' });
  const directory = await devices();
  const printer = await ptyAt(join(directory, 'lp7'));
  const connection = await openAt(sysfs, directory);
  await connection.write(Buffer.from('^XA^XZ'), signal);
  expect(String(await received(printer, 6))).toBe('^XA^XZ');
  await connection.close();
  expect(await faultOf(connection.write(Buffer.from('x'), signal))).toBe('connection-lost');
  const byPort = await openAt(sysfs, directory, 'usb://0a5f/0166/port/1-4');
  await byPort.close();
});

test('a device that does not say who it is is not waited for, and not kept open when it does', async () => {
  const sysfs = await fakeSysfs(PLUGGED);
  const directory = await devices();
  const node = join(directory, 'lp0');
  execFileSync('mkfifo', [node]);
  const silent = join(sysfs.root, 'devices/pci0000:00/usb1/1-1/1-1:1.0/ieee1284_id');
  execFileSync('mkfifo', [silent]);
  // Each attempt that hangs would hold one more of the few threads that the process has for files.
  for (let attempt = 0; attempt < 6; attempt++) {
    expect(await faultOf(openAt(sysfs, directory, URI, { connect: 100 }))).toBe('connect-timeout');
  }
  const stops = new AbortController();
  const transport = usbTransportAt({ sysfs: sysfs.root, devices: directory });
  const opening = transport.open(parseAddress(URI), transportTimeouts.parse({}), stops.signal);
  stops.abort(new Error('the agent stops'));
  await expect(opening).rejects.toThrow('the agent stops');
  const isOpen = async () => {
    const fds = await readdir('/proc/self/fd');
    const links = await Promise.all(fds.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
    return links.filter((link) => link === silent || link === node);
  };
  const says = await open(silent, 'r+');
  // Those that were given up go on now, and so does one that comes after them.
  const connection = await openAt(sysfs, directory);
  await says.close();
  await expect.poll(isOpen).toEqual([node]);
  await connection.close();
});

test('what cannot be opened, and why', async () => {
  const sysfs = await fakeSysfs(PLUGGED);
  const directory = await devices();
  const at = (uri: string) => faultOf(openAt(sysfs, directory, uri));
  expect(await at('usb://0a5f/0166/serial/NOBODY')).toBe('device-unreachable');
  expect(await at('usb://0a5f/9999/serial/D4J193601234')).toBe('device-unreachable');
  // There, but without a node.
  expect(await at(URI)).toBe('device-unreachable');
  await mkdir(join(directory, 'lp0'));
  expect(await at(URI)).toBe('device-unreachable');
  await sysfs.plug({ ...PLUGGED, node: 'lp1', port: '1-2' });
  await expect(openAt(sysfs, directory)).rejects.toThrow('two devices have its serial number');
  for (const uri of [
    'usb://0a5f',
    'usb://0a5f/0166/D4J',
    'usb://zebra/0166/serial/1',
    'usb://0a5f/0166/serial/%ff',
  ]) {
    expect(await at(uri)).toBe('address-invalid');
  }
});
