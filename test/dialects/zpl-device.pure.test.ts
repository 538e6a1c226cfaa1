import type { Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Connection } from '../../drivers/connection.ts';
import { zplDevice } from '../../drivers/languages/zpl/device.ts';
import { standardTransports } from '../../drivers/transports/index.ts';
import { answering, peer } from '../kit/wire/peer.ts';

const never = new AbortController().signal;
const frame = (text: string) => `\x02${text}\x03\r\n`;

const VARIABLES: Record<string, string> = {
  'device.unique_id': '41A06440023',
  'device.friendly_name': 'Lab 3',
  'head.resolution.in_dpi': '203',
  'ezpl.print_width': '812',
  'zpl.label_length': '1218',
  'odometer.total_label_count': '417',
};

/** `~HS` with the fields that matter here. */
function hostStatus(fields: Record<string, number> = {}): string {
  const of = (name: string, size = 1) => String(fields[name] ?? 0).padStart(size, '0');
  return (
    frame(
      `030,${of('mediaOut')},${of('paused')},1218,${of('formats', 3)},${of('full')},0,${of('partial')},000,0,0,${of('hot')}`,
    ) +
    frame(`000,0,${of('headUp')},${of('ribbonOut')},0,2,4,${of('waiting')},${of('remaining', 8)},1,000`) +
    frame('1234,0')
  );
}

/** A modern printer, with some of its answers replaced; undefined: no answer. */
function printer(changes: Record<string, string | undefined> = {}): (line: string) => string | undefined {
  return (line) => {
    if (line in changes) return changes[line];
    if (line === '~HS') return hostStatus();
    if (line === '~HI') return frame('ZTC ZD421-203dpi ZPL,V84.20.18Z,8,8176KB,X');
    if (line === '~HQSN') return frame('\r\n  SERIAL NUMBER\r\n  41A06440023\r\n');
    const variable = /^! U1 getvar "(.+)"$/.exec(line)?.[1];
    if (variable !== undefined) return `"${changes[variable] ?? VARIABLES[variable] ?? '?'}"`;
    return undefined;
  };
}

async function connected(behaviour: (socket: Socket) => void, query = 2_000) {
  const device = await peer(behaviour);
  const connection = await standardTransports.open(device.uri, never, { query });
  onTestFinished(() => connection.close());
  return connection;
}

/** A printer that never answers what the set holds. */
const silent = (...lines: string[]) => printer(Object.fromEntries(lines.map((line) => [line, undefined])));
const NO_VARIABLES = Object.keys(VARIABLES).map((name) => `! U1 getvar "${name}"`);

test('a printer that tells everything', async () => {
  const connection = await connected(answering(printer()));
  expect(await zplDevice.identify(connection, never)).toEqual({
    evidence: 'serial',
    value: '41A06440023',
    name: 'Lab 3',
    model: 'ZTC ZD421-203dpi ZPL',
    dpi: 203,
    width: 101.6,
    height: 152.4,
  });
  expect(await zplDevice.status(connection, never)).toEqual({
    state: 'idle',
    reasons: [],
    labelsPending: 0,
    formatsPending: 0,
    odometer: 417,
  });
});

test('an old printer without SGD: serial number by ~HQSN, resolution by ~HI', async () => {
  const connection = await connected(answering(silent(...NO_VARIABLES)), 150);
  expect(await zplDevice.identify(connection, never)).toEqual({
    evidence: 'serial',
    value: '41A06440023',
    model: 'ZTC ZD421-203dpi ZPL',
    dpi: 203,
  });
  expect((await zplDevice.status(connection, never)).odometer).toBeNull();
});

test.each([
  ['says nothing', () => undefined],
  [
    'has no serial number',
    printer({ 'device.unique_id': '?', '~HQSN': frame('\r\n  SERIAL NUMBER\r\n\r\n') }),
  ],
  ['has one that all of its kind have', printer({ 'device.unique_id': '00000000', '~HQSN': '' })],
  ['answers nonsense', (line: string) => (line === '' ? undefined : '\x02?\x03""""""""""')],
])('a device that %s is nobody', async (_, answer) => {
  const connection = await connected(answering(answer), 150);
  expect(await zplDevice.identify(connection, never)).toBeNull();
});

test.each<[string, Record<string, number>, object]>([
  [
    'out of media',
    { mediaOut: 1, remaining: 3 },
    { state: 'stopped', reasons: ['media-empty'], labelsPending: 3 },
  ],
  [
    'out of ribbon',
    { ribbonOut: 1 },
    { state: 'stopped', reasons: ['marker-supply-empty'], labelsPending: 0 },
  ],
  ['open', { headUp: 1 }, { state: 'stopped', reasons: ['cover-open'], labelsPending: 0 }],
  ['paused', { paused: 1, formats: 2 }, { state: 'stopped', reasons: ['paused'], labelsPending: 2 }],
  ['too hot', { hot: 1 }, { state: 'stopped', reasons: ['other'], labelsPending: 0 }],
  [
    'open and empty',
    { headUp: 1, mediaOut: 1 },
    { state: 'stopped', reasons: ['media-empty', 'cover-open'] },
  ],
  [
    'printing',
    { formats: 2, remaining: 5 },
    { state: 'processing', reasons: [], labelsPending: 7, formatsPending: 2 },
  ],
  [
    'reading a format',
    { partial: 1 },
    { state: 'processing', reasons: [], labelsPending: 1, formatsPending: 1 },
  ],
  ['full', { full: 1 }, { state: 'processing', reasons: ['spool-area-full'], labelsPending: 1 }],
  ['waiting', { waiting: 1 }, { state: 'processing', reasons: ['label-waiting'], labelsPending: 1 }],
])('status: %s', async (_, fields, expected) => {
  const connection = await connected(answering(printer({ '~HS': hostStatus(fields) })));
  expect(await zplDevice.status(connection, never)).toMatchObject(expected);
});

test('an odometer that the printer does not have', async () => {
  const connection = await connected(answering(printer({ 'odometer.total_label_count': '?' })));
  expect((await zplDevice.status(connection, never)).odometer).toBeNull();
});

test('a printer that does not answer ~HS while it is open is asked by ~HQES, and counts nothing', async () => {
  const errors = (bits: string) =>
    frame(`\r\nPRINTER STATUS\r\nERRORS: 1 00000000 ${bits}\r\nWARNINGS: 0 00000000 00000000\r\n`);
  const connection = await connected(
    answering(printer({ '~HS': undefined, '~HQES': errors('00000004') })),
    150,
  );
  expect(await zplDevice.status(connection, never)).toEqual({
    state: 'stopped',
    reasons: ['cover-open'],
    labelsPending: null,
    odometer: 417,
  });
});

test('a printer that answers nothing is unknown, not idle', async () => {
  const connection = await connected(
    answering(() => undefined),
    100,
  );
  await expect(zplDevice.status(connection, never)).rejects.toMatchObject({ code: 'query-timeout' });
});

test('an answer that comes late is not taken for the answer to the next question', async () => {
  // Keeps its first answer ("nothing pending") back until the next question, and only then says how it is.
  let asked = 0;
  const late = (line: string) => {
    if (line !== '~HS') return printer({ '~HQES': '' })(line);
    asked++;
    if (asked === 1) return undefined;
    return asked === 2 ? hostStatus() : hostStatus({ formats: 9 });
  };
  const connection = await connected(answering(late), 150);
  await expect(zplDevice.status(connection, never)).rejects.toMatchObject({ code: 'query-timeout' });
  expect((await zplDevice.status(connection, never)).labelsPending).toBe(9);
});

test('abort ends the asking with its reason', async () => {
  const connection = await connected(answering(() => undefined));
  const abort = new AbortController();
  const asking = zplDevice.identify(connection, abort.signal);
  abort.abort(new Error('enough'));
  await expect(asking).rejects.toThrow('enough');
});

/** Every write of questions, as it went out. */
function watched(connection: Connection): { connection: Connection; writes: string[] } {
  const writes: string[] = [];
  const query: Connection['query'] = (bytes, ...more) => {
    writes.push(Buffer.from(bytes).toString('latin1'));
    return connection.query(bytes, ...more);
  };
  const { closed } = connection;
  const own = {
    closed,
    query,
    write: connection.write.bind(connection),
    close: connection.close.bind(connection),
  };
  return { connection: own, writes };
}

const COUNT = '! U1 getvar "odometer.total_label_count"';
const questions = (write: string) => write.split('\r\n').slice(0, -1);

test('how it is and what it has counted is one write, once the connection has answered variables', async () => {
  let odometer = 417;
  let remaining = 0;
  const answer = (line: string) => {
    if (line === '~HS') return hostStatus({ remaining });
    return line === COUNT ? `"${odometer}"` : printer()(line);
  };
  const { connection, writes } = watched(await connected(answering(answer)));
  const habits = {};
  const asked = async () => {
    writes.length = 0;
    const { labelsPending, odometer: count } = await zplDevice.status(connection, never, habits);
    return { labelsPending, count, writes: writes.map(questions) };
  };
  const both = ['~HS', COUNT];
  expect(await asked()).toEqual({ labelsPending: 0, count: 417, writes: [['~HS'], [COUNT]] });
  expect(await asked()).toEqual({ labelsPending: 0, count: 417, writes: [both] });
  remaining = 2;
  expect(await asked()).toEqual({ labelsPending: 2, count: 417, writes: [both] });
  // It has counted one since: what is pending must have been asked after that.
  odometer = 418;
  remaining = 1;
  expect(await asked()).toEqual({ labelsPending: 1, count: 418, writes: [both, both] });
});

test('labels come out while it is asked: each time that both were asked at once is told as one moment', async () => {
  let [odometer, remaining] = [417, 9];
  const answer = (line: string) => {
    if (line === '~HS') return hostStatus({ remaining });
    if (line !== COUNT) return printer()(line);
    const count = `"${odometer}"`;
    [odometer, remaining] = [odometer + 1, remaining - 1];
    return count;
  };
  const connection = await connected(answering(answer));
  const moment = (count: number, labelsPending: number) =>
    expect.objectContaining({ odometer: count, labelsPending });
  // On a new connection one after the other, until it has answered variables.
  expect(await zplDevice.status(connection, never, {})).toMatchObject({
    ...{ odometer: 417, labelsPending: 8 },
    moments: [moment(418, 8)],
  });
  expect(await zplDevice.status(connection, never, {})).toMatchObject({
    ...{ odometer: 419, labelsPending: 6 },
    moments: [moment(419, 7), moment(420, 6)],
  });
  expect(await zplDevice.status(connection, never, { oneAtATime: true })).toMatchObject({
    ...{ odometer: 421, labelsPending: 4 },
    moments: [],
  });
});

test('half a label of somebody else: its counter is not waited for, and not asked again while that is there', async () => {
  let partial = 0;
  const answer = (line: string) => {
    if (line === '~HS') return hostStatus({ partial });
    // Taken for data of the label.
    return partial === 1 ? undefined : printer()(line);
  };
  const { connection, writes } = watched(await connected(answering(answer)));
  const habits = {};
  const status = async () => await zplDevice.status(connection, never, habits);
  await status();
  partial = 1;
  for (const question of [['~HS', COUNT], ['~HS']]) {
    writes.length = 0;
    expect(await status()).toMatchObject({ unfinished: true, odometer: null });
    expect(writes.map(questions)).toEqual([question]);
  }
  partial = 0;
  expect(await status()).toMatchObject({ labelsPending: 0, odometer: 417 });
  expect(habits).toEqual({});
});

test('a printer that answers one question at a time is asked so on its next connections', async () => {
  // What comes together with another question is lost.
  const oneAtATime = (socket: Socket) => {
    socket.on('data', (bytes) => {
      const [line = ''] = questions(bytes.toString('latin1'));
      socket.write(printer()(line) ?? '');
    });
    socket.resume();
  };
  const habits = {};
  const first = await connected(oneAtATime, 150);
  expect(await zplDevice.status(first, never, habits)).toMatchObject({ odometer: 417 });
  await expect(zplDevice.status(first, never, habits)).rejects.toMatchObject({ code: 'query-timeout' });
  const next = await connected(oneAtATime, 150);
  for (const _ of [1, 2])
    expect(await zplDevice.status(next, never, habits)).toMatchObject({ labelsPending: 0, odometer: 417 });
});

test('a printer that is silent for a while is asked both at once again', async () => {
  let silence = false;
  const answer = (line: string) => (silence ? undefined : printer()(line));
  const habits = {};
  const first = await connected(answering(answer), 150);
  await zplDevice.status(first, never, habits);
  silence = true;
  await expect(zplDevice.status(first, never, habits)).rejects.toMatchObject({ code: 'query-timeout' });
  expect(habits).toEqual({});
});
