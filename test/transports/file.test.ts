import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { standardTransports } from '../../drivers/transports/index.ts';

const never = new AbortController().signal;
/** More than a pipe holds. */
const LARGE = randomBytes(1024 * 1024);

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'platen-test-file-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function open(path: string, write = 500, connect = 60_000) {
  const connection = await standardTransports.open(pathToFileURL(path).href, never, { connect, write });
  onTestFinished(() => connection.close());
  return connection;
}

/** How often this process has it open. */
function timesOpen(path: string): number {
  const links = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return '';
    }
  });
  return links.filter((link) => link === path).length;
}

function fifo(): string {
  const path = join(directory(), 'labels');
  execFileSync('mkfifo', [path]);
  return path;
}

test('a regular file: what is there stays, what is written stands behind it, also through a link', async () => {
  const path = join(directory(), 'labels 1 #é.zpl');
  writeFileSync(path, 'before');
  const link = join(directory(), 'link');
  symlinkSync(path, link);
  const connection = await open(link);
  await Promise.all([connection.write(LARGE, never), connection.write(Buffer.from('after'), never)]);
  expect(readFileSync(path)).toEqual(Buffer.concat([Buffer.from('before'), LARGE, Buffer.from('after')]));
  await connection.close();
  await expect(connection.write(LARGE, never)).rejects.toMatchObject({ code: 'connection-lost' });
});

test("a FIFO: each byte to who reads it, at the reader's pace", async () => {
  const path = fifo();
  const reader = await openFile(path, constants.O_RDONLY | constants.O_NONBLOCK);
  onTestFinished(() => reader.close());
  const connection = await open(path, 20_000);
  const writing = connection.write(LARGE, never);
  const parts: Buffer[] = [];
  for (let got = 0; got < LARGE.length; ) {
    const piece = Buffer.alloc(10_000);
    const { bytesRead } = await reader.read(piece).catch((error) => {
      if (error.code !== 'EAGAIN') throw error;
      return { bytesRead: 0 };
    });
    got += bytesRead;
    parts.push(piece.subarray(0, bytesRead));
  }
  await writing;
  expect(Buffer.concat(parts).equals(LARGE)).toBe(true);
});

test('a FIFO whose reader does not read: the write ends in its time, or with its signal, and so does the connection', async () => {
  const path = fifo();
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(reader));
  const slow = await open(path, 100);
  await expect(slow.write(LARGE, never)).rejects.toMatchObject({ code: 'write-timeout', retrySafe: false });
  expect(slow.closed.aborted).toBe(true);

  readSync(reader, Buffer.alloc(LARGE.length));
  const patient = await open(path, 60_000);
  const abort = new AbortController();
  const writing = patient.write(LARGE, abort.signal);
  const told = expect(writing).rejects.toThrow('the agent stops');
  // Full: the writer waits.
  for (let got = 0; got === 0; ) got = await readSome(reader);
  abort.abort(new Error('the agent stops'));
  await told;
  await expect(patient.write(LARGE, never)).rejects.toMatchObject({ code: 'connection-lost' });
});

async function readSome(reader: number): Promise<number> {
  await new Promise((resolve) => setImmediate(resolve));
  try {
    return readSync(reader, Buffer.alloc(1));
  } catch {
    return 0;
  }
}

test('a reader that leaves in the middle is a connection lost', async () => {
  const path = fifo();
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const connection = await open(path, 20_000);
  const told = expect(connection.write(LARGE, never)).rejects.toMatchObject({ code: 'connection-lost' });
  for (let got = 0; got === 0; ) got = await readSome(reader);
  closeSync(reader);
  await told;
});

test('nothing is asked of a file, and no question stands in it', async () => {
  const path = join(directory(), 'labels');
  writeFileSync(path, '');
  const connection = await open(path);
  const asked = connection.query(Buffer.from('~HS'), () => true, { signal: never });
  await expect(asked).rejects.toMatchObject({ code: 'query-timeout' });
  expect(readFileSync(path, 'utf8')).toBe('');
});

test('a full device says so', async () => {
  const connection = await open('/dev/full', 20_000);
  await expect(connection.write(LARGE, never)).rejects.toMatchObject({
    code: 'connection-lost',
    message: expect.stringContaining('ENOSPC'),
  });
});

test('what is no file, character device or FIFO is not written to, and nothing is made', async () => {
  const path = directory();
  await expect(open(path)).rejects.toMatchObject({
    code: 'device-unreachable',
    message: expect.stringContaining('directory'),
  });
  await expect(open(join(path, 'none'))).rejects.toMatchObject({ code: 'device-unreachable' });
  await expect(open(fifo())).rejects.toMatchObject({
    code: 'device-unreachable',
    message: expect.stringContaining('nobody reads it'),
  });
  for (const uri of ['file://host/labels', 'file:///labels?x=1', 'file:///a%2fb', 'file:///labels#1']) {
    await expect(standardTransports.open(uri, never)).rejects.toMatchObject({ code: 'address-invalid' });
  }
  const aborted = AbortSignal.abort(new Error('the agent stops'));
  await expect(standardTransports.open('file:///dev/null', aborted)).rejects.toThrow('the agent stops');
});

test('a file system that hangs after it has opened the file is not waited for, and the file is closed', async () => {
  const path = join(directory(), 'labels.zpl');
  writeFileSync(path, '');
  const handle = await openFile(path);
  onTestFinished(() => handle.close());
  const { promise: hangs, resolve: answer } = Promise.withResolvers<void>();
  const stats = await handle.stat();
  const proto: typeof handle = Object.getPrototypeOf(handle);
  using _stat = vi.spyOn(proto, 'stat').mockImplementation(async () => {
    await hangs;
    return stats;
  });
  await expect(open(path, 500, 500)).rejects.toMatchObject({ code: 'connect-timeout' });
  const stops = new AbortController();
  const opening = standardTransports.open(pathToFileURL(path).href, stops.signal);
  stops.abort(new Error('the agent stops'));
  await expect(opening).rejects.toThrow('the agent stops');
  // The test's own, and one: each that hangs holds one of the few threads that the process has for files.
  expect(timesOpen(path)).toBe(2);
  answer();
  await expect.poll(() => timesOpen(path)).toBe(1);
  await (await open(path)).close();
});
