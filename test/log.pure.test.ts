import { spawnSync } from 'node:child_process';
import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { TransportError } from '../drivers/connection.ts';
import { createLogger } from '../src/log.ts';
import { withoutCredentials } from '../src/words/without-credentials.ts';

function logged(write: (log: ReturnType<typeof createLogger>) => void): string {
  let text = '';
  const destination = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  write(createLogger({ level: 'trace', destination }));
  return text;
}

describe('the log', () => {
  test.each([
    ['is told to end', 'process.exit(3)'],
    ['fails', "throw new Error('unforeseen')"],
  ])('of a process that %s in the same turn is on stderr, in order', (_how, ending) => {
    const address = new URL('../src/log.ts', import.meta.url).href;
    const says =
      "const [one, other] = [createLogger(), createLogger()]; one.info('first'); other.info('second');";
    const program = `import { createLogger } from '${address}'; ${says} ${ending};`;
    const { stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect(status).not.toBe(0);
    const lines = stderr.split('\n').filter((line) => line.startsWith('{'));
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['first', 'second']);
  });

  test('keeps IDs and leaves out secrets and label contents', () => {
    const text = logged((log) => {
      log.info({ jobId: 'j-1', apiSecret: 'sk_1', request: { authorization: 'Bearer t0k' } }, 'event');
      log.info({ job: { records: [{ name: 'Ada' }], data: [{ name: 'Ada' }] } }, 'event');
    });
    expect(text).toContain('j-1');
    for (const secret of ['sk_1', 't0k', 'Ada']) expect(text).not.toContain(secret);
  });

  test('leaves them out of what a part of the program always logs, and of lists, and changes no object', () => {
    const part = { printer: 'p-1', password: 'pa55' };
    const event = { accounts: [{ name: 'a-1', apiSecret: 'sk_1' }], at: new Date('2026-11-23T00:00:00Z') };
    const text = logged((log) => log.child(part).info(event, 'event'));
    expect(JSON.parse(text)).toMatchObject({
      printer: 'p-1',
      password: '[redacted]',
      accounts: [{ name: 'a-1', apiSecret: '[redacted]' }],
      at: '2026-11-23T00:00:00.000Z',
    });
    expect([part.password, event.accounts[0]?.apiSecret]).toEqual(['pa55', 'sk_1']);
  });

  test('leaves credentials out of connection strings in errors', () => {
    const text = logged((log) =>
      log.error({ err: new Error('no route to redis://u:pa55@cache:6379/0') }, 'event'),
    );
    expect(text).toContain('redis://[redacted]@cache:6379/0');
    expect(text).not.toContain('pa55');
  });

  test('has no stack of a refused connection, and one of an error of our own', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:9100'), { code: 'ECONNREFUSED' });
    const away = new TransportError('device-unreachable', '10.0.0.7:9100, ECONNREFUSED');
    const ours = new TypeError('x is no function');
    const [first = '', second = '', third = ''] = logged((log) => {
      for (const err of [refused, ours, away]) log.warn({ err }, 'event');
    }).split('\n');
    expect(JSON.parse(third).err).toEqual({
      type: 'TransportError',
      message: away.message,
      code: 'device-unreachable',
    });
    expect(JSON.parse(first).err).toEqual({ type: 'Error', message: refused.message, code: 'ECONNREFUSED' });
    expect(JSON.parse(second).err.stack).toContain('log.pure.test.ts');
  });
});

test.each([
  ['postgres://me:s%40crt@db/platen', 'postgres://[redacted]@db/platen'],
  ['https://example.com/a@b', 'https://example.com/a@b'],
  ['rediss://:pw@host:1', 'rediss://[redacted]@host:1'],
  ['redis://user:p@ss@w@host/0 and http://a/b@c', 'redis://[redacted]@host/0 and http://a/b@c'],
])('%s becomes %s', (text, expected) => {
  expect(withoutCredentials(text)).toBe(expected);
});
