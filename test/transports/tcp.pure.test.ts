import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { Connection, TransportError } from '../../drivers/connection.ts';
import { standardTransports } from '../../drivers/transports/index.ts';
import { fault } from '../kit/wire/fault.ts';
import { answering, everything, peer } from '../kit/wire/peer.ts';

const never = new AbortController().signal;
/** More than the kernel's buffers on both sides can hold. */
const LARGE = randomBytes(24 * 1024 * 1024);
const bytes = (text: string) => Buffer.from(text, 'latin1');
const hash = (data: Uint8Array) => createHash('sha256').update(data).digest('hex');

async function open(uri: string, timeouts: { connect?: number; write?: number; query?: number } = {}) {
  const connection = await standardTransports.open(uri, never, timeouts);
  onTestFinished(() => connection.close());
  return connection;
}

async function gone(connection: Connection): Promise<TransportError> {
  if (!connection.closed.aborted) await once(connection.closed, 'abort');
  return connection.closed.reason;
}

test('a device that does not read holds a write back, and gets every byte when it does', async () => {
  const device = await peer();
  const connection = await open(device.uri);
  let written = false;
  const writing = connection.write(LARGE, never).then(() => {
    written = true;
  });
  const socket = await device.accepted;
  await once(socket, 'readable');
  expect(written).toBe(false);
  const received = everything(socket);
  await writing;
  await connection.close();
  expect(hash(await received)).toBe(hash(LARGE));
});

test('closing right after a write loses nothing, though the device is slow and talks back', async () => {
  const device = await peer();
  const connection = await open(device.uri);
  const socket = await device.accepted;
  let reset = false;
  socket.on('error', () => {
    reset = true;
  });
  const data = LARGE.subarray(0, 3_000_000);
  const writing = connection.write(data, never);
  const closed = connection.close();
  for (let alert = 0; alert < 50; alert++) socket.write('PAPER LOW\r\n');
  const received = await everything(socket);
  await Promise.all([writing, closed]);
  expect(hash(received)).toBe(hash(data));
  expect(reset).toBe(false);
});

test('close is bounded when the device keeps its side open, and is the same for every caller', async () => {
  const device = await peer((socket) => socket.resume(), { allowHalfOpen: true });
  const connection = await open(device.uri);
  const socket = await device.accepted;
  const ended = once(socket, 'end');
  await Promise.all([connection.close(), connection.close()]);
  await ended;
  expect(await gone(connection)).toMatchObject({ code: 'connection-lost' });
  expect(await fault(connection.write(bytes('x'), never))).toMatchObject({ code: 'connection-lost' });
});

test('a refused connection', async () => {
  const device = await peer();
  device.server.close();
  const error = await fault(standardTransports.open(device.uri, never));
  expect(error).toMatchObject({ code: 'device-unreachable', retrySafe: true });
  expect(error.message).toContain('ECONNREFUSED');
});

test('a device that accepts no connection: a timeout, or the abort that comes first', async () => {
  // A stopped process keeps its listening socket, and the kernel drops what exceeds the backlog.
  const child = spawn(
    process.execPath,
    [
      '-e',
      `require('net').createServer().listen(0,'127.0.0.1',1,function(){console.log(this.address().port)})`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = await once(child.stdout, 'data');
  child.kill('SIGSTOP');
  const port = Number(line);
  const fillers: Socket[] = [];
  onTestFinished(() => {
    for (const filler of fillers) filler.destroy();
  });
  for (;;) {
    const filler = connect(port, '127.0.0.1');
    filler.on('error', () => undefined);
    fillers.push(filler);
    const accepted = await Promise.race([once(filler, 'connect').then(() => true), wait(500, false)]);
    if (!accepted) break;
  }
  const uri = `socket://127.0.0.1:${port}`;
  expect(await fault(standardTransports.open(uri, never, { connect: 150 }))).toMatchObject({
    code: 'connect-timeout',
    retrySafe: true,
  });
  const abort = new AbortController();
  const opening = fault(standardTransports.open(uri, abort.signal));
  abort.abort(new Error('enough'));
  expect(await opening).toMatchObject({ message: 'enough' });
});

test('a write with no progress times out and breaks the connection off', async () => {
  const device = await peer();
  const connection = await open(device.uri, { write: 200 });
  expect(await fault(connection.write(LARGE, never))).toMatchObject({
    code: 'write-timeout',
    retrySafe: false,
  });
  expect(connection.closed.aborted).toBe(true);
  expect(await fault(connection.write(bytes('x'), never))).toMatchObject({ code: 'connection-lost' });
});

test('a device that takes its time, but takes data, does not time out', async () => {
  const device = await peer();
  const connection = await open(device.uri, { write: 1_000 });
  const socket = await device.accepted;
  let received = 0;
  const reading = (async () => {
    let pauseAt = 1_000_000;
    for await (const part of socket) {
      received += part.length;
      if (received > pauseAt) {
        pauseAt += 1_000_000;
        await wait(80);
      }
    }
  })();
  await connection.write(LARGE, never);
  await connection.close();
  await reading;
  expect(received).toBe(LARGE.length);
});

test.runIf(process.platform === 'linux')(
  'a device that empties a large buffer slowly does not time out, though the program sees no room for longer',
  async () => {
    const device = await peer();
    const connection = await open(device.uri, { write: 1_000 });
    const socket = await device.accepted;
    let longest = 0;
    const writing = (async () => {
      for (let at = 0; at < LARGE.length; at += 4_096) {
        const from = performance.now();
        await connection.write(LARGE.subarray(at, at + 4_096), never);
        longest = Math.max(longest, performance.now() - from);
      }
    })();
    let received = 0;
    let sips = 0;
    for await (const part of socket) {
      received += part.length;
      sips++;
      // 64 KB every 100 ms, for 6 s; the rest in one go.
      if (sips < 60) await wait(100);
      if (received === LARGE.length) break;
    }
    await writing;
    expect(received).toBe(LARGE.length);
    // Or the test would show nothing.
    expect(longest).toBeGreaterThan(1_250);
  },
);

test('a reset in the middle of a write', async () => {
  const device = await peer((socket) => socket.resume().once('data', () => socket.resetAndDestroy()));
  const connection = await open(device.uri);
  expect(await fault(connection.write(LARGE, never))).toMatchObject({
    code: 'connection-lost',
    retrySafe: false,
  });
  expect(await gone(connection)).toMatchObject({ code: 'connection-lost' });
});

test.each([
  ['closes', (socket: Socket) => socket.end()],
  ['resets', (socket: Socket) => socket.resetAndDestroy()],
])('an idle connection that the device %s is known to be gone', async (_, leave) => {
  const device = await peer((socket) => socket.resume());
  const connection = await open(device.uri);
  leave(await device.accepted);
  expect(await gone(connection)).toMatchObject({ code: 'connection-lost' });
});

test('abort: before its turn a write leaves no trace, in the middle it breaks the connection off', async () => {
  const device = await peer();
  const connection = await open(device.uri);
  const socket = await device.accepted;
  const first = connection.write(LARGE, never);
  const abort = new AbortController();
  const second = fault(connection.write(bytes('SECOND'), abort.signal));
  const third = connection.write(bytes('THIRD'), never);
  abort.abort(new Error('second is off'));
  expect(await second).toMatchObject({ message: 'second is off' });
  const received = everything(socket);
  await Promise.all([first, third]);
  await connection.close();
  expect((await received).subarray(LARGE.length).toString()).toBe('THIRD');

  const other = await peer();
  const broken = await open(other.uri);
  const stop = new AbortController();
  const writing = fault(broken.write(LARGE, stop.signal));
  await once(await other.accepted, 'readable');
  stop.abort(new Error('stop'));
  expect(await writing).toMatchObject({ message: 'stop' });
  expect(await gone(broken)).toMatchObject({ code: 'connection-lost' });
});

test('queries get their own answers, in order, and nothing that came unasked', async () => {
  const device = await peer((socket) => {
    socket.write('UNASKED');
    answering((line) => (line === 'x' ? undefined : `<${line}>`))(socket);
  });
  const connection = await open(device.uri);
  const complete = (reply: Uint8Array) => reply.at(-1) === 0x3e;
  const ask = (question: string) =>
    connection
      .query(bytes(`${question}\r\n`), complete, { signal: never })
      .then((reply) => Buffer.from(reply).toString());
  // One answer behind the unasked bytes: what comes before the question is thrown away.
  const first = await ask('warm-up');
  expect(first.endsWith('<warm-up>')).toBe(true);
  const answers = await Promise.all([
    ask('a'),
    connection.write(bytes('x\r\n'), never).then(() => ask('b')),
    ask('c'),
  ]);
  expect(answers).toEqual(['<a>', '<b>', '<c>']);
});

test('an answer in pieces, one that is too long, none, and a predicate that fails', async () => {
  const device = await peer((socket) => {
    answering((line) => {
      if (line === 'pieces') {
        socket.write('one ', () => socket.write('two ', () => socket.write('three.')));
        return undefined;
      }
      return line === 'long' ? 'x'.repeat(5_000) : line === 'other' ? 'y' : undefined;
    })(socket);
  });
  const connection = await open(device.uri, { query: 2_000 });
  const dot = (reply: Uint8Array) => reply.at(-1) === 0x2e;
  const pieces = await connection.query(bytes('pieces\r\n'), dot, { signal: never });
  expect(Buffer.from(pieces).toString()).toBe('one two three.');
  for (const bound of [{ maxBytes: 1_000 }, {}]) {
    const long = connection.query(bytes('long\r\n'), dot, { ...bound, signal: never });
    expect(await fault(long)).toMatchObject({ code: 'reply-too-long', retrySafe: true });
  }
  const none = connection.query(bytes('none\r\n'), dot, { timeoutMs: 50, signal: never });
  expect(await fault(none)).toMatchObject({ code: 'query-timeout', retrySafe: true });
  const refuse = () => {
    throw new Error('not like this');
  };
  expect(await fault(connection.query(bytes('other\r\n'), refuse, { signal: never }))).toMatchObject({
    message: 'not like this',
  });
  const abort = new AbortController();
  const aborted = fault(connection.query(bytes('none\r\n'), dot, { signal: abort.signal }));
  abort.abort(new Error('never mind'));
  expect(await aborted).toMatchObject({ message: 'never mind' });
  // After all of that the connection still works.
  const again = await connection.query(bytes('pieces\r\n'), dot, { signal: never });
  expect(Buffer.from(again).toString()).toContain('one two three.');
});

test('a device that leaves instead of answering', async () => {
  const device = await peer((socket) => socket.resume().once('data', () => socket.end('half an ans')));
  const connection = await open(device.uri);
  const asking = connection.query(bytes('?\r\n'), () => false, { signal: never });
  expect(await fault(asking)).toMatchObject({ code: 'connection-lost' });
});

test.each([
  'socket://user:hunter2@10.0.0.7:9100',
  'socket://10.0.0.7:0',
  'socket://10.0.0.7:99999?hunter2',
  'socket://10.0.0.7:9100/hunter2',
  'socket://10.0.0.7?hunter2=1',
  'socket://10.0.0.7#hunter2',
  'socket:///hunter2',
  'socket:hunter2',
  'socket://hunter2 with space',
  'socket://hunter2%41',
  'socket://[hunter2]',
  'telnet://user:hunter2@10.0.0.7',
  'http://user:hunter2@[',
  'hunter2',
  '',
])('the address %j is refused without being repeated', async (uri) => {
  const error = await fault(standardTransports.open(uri, never));
  expect(error).toMatchObject({ code: 'address-invalid', retrySafe: true });
  expect(error.message).not.toContain('hunter2');
});
