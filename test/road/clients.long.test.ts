/** The client libraries print a label on a virtual printer and wait for it, and do what a service asks of its callers. */
import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Platen, PlatenError } from '../../clients/javascript/platen.js';
import type { IntegrationCreated } from '../../src/contract/admin.ts';
import { PlatenUp } from '../kit/service/platen.ts';
import { useDirectory } from '../kit/service/use-directory.ts';
import { listening, listeningForTest } from '../kit/wire/listening.ts';
import { webhookCases } from './webhook-messages.ts';

const run = promisify(execFile);
const CLIENTS = join(import.meta.dirname, '../../clients');
const source = (file: string) => join(CLIENTS, file);
const program = (ending: string) => join(import.meta.dirname, 'client-programs', `Drive.${ending}`);

const directory = useDirectory();
let up: PlatenUp;
let account: IntegrationCreated;
let template: string;
beforeAll(async () => {
  up = await PlatenUp.start({ dataDir: join(directory.path, 'data'), args: ['--virtual-speed', '100'] });
  await up.printerOnline('virtual-1');
  account = await up.admin.createIntegration('default', { name: 'clients' });
  ({ id: template } = await up.admin.importTemplate('default', {
    name: 'Client',
    width: 50,
    height: 25,
    fields: [{ name: 'typed' }],
    elements: [{ type: 'text', x: 2, y: 2, width: 46, height: 5, text: '{{typed}}', size: 3 }],
  }));
});
afterAll(() => up?.stop());

const request = () => ({ idT: template, printer: 'virtual-1', data: [{ typed: 'größer' }] });

/**
 * A service whose answers to a job break off, are none or stop half-way, until the fifth.
 * @returns an account there, and the idempotency keys that came
 */
async function breakingService(): Promise<{ account: object; keys: (string | undefined)[] }> {
  const keys: (string | undefined)[] = [];
  const answers = [
    { text: 'HTTP/1.1 201 Created\r\nContent-Length: 40\r\n\r\n["half', ends: true },
    { text: 'this is no HTTP\r\n\r\n', ends: true },
    { text: 'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 40\r\n\r\n{"code', ends: true },
    { text: 'HTTP/1.1 201 Created\r\nContent-Length: 40\r\n\r\n["stalled', ends: false },
    { text: 'HTTP/1.1 201 Created\r\nConnection: close\r\nContent-Length: 7\r\n\r\n["job"]', ends: true },
  ];
  const token = JSON.stringify({ access_token: 'token', expires_in: 600 });
  const server = createTcpServer((socket) => {
    let asked = '';
    socket.on('error', () => undefined);
    socket.setEncoding('latin1').on('data', (more: string) => {
      asked += more;
      const end = asked.indexOf('\r\n\r\n') + 4;
      const length = Number(/^content-length: (\d+)/im.exec(asked)?.[1]);
      if (end < 4 || asked.length < end + length) return;
      if (asked.startsWith('POST /token')) {
        socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${token.length}\r\n\r\n${token}`);
        return;
      }
      const answer = answers[keys.length] ?? expect.fail('asked once more');
      keys.push(/^idempotency-key: (.*)\r$/im.exec(asked)?.[1]);
      if (answer.ends) socket.end(answer.text);
      else socket.write(answer.text);
    });
  });
  const url = `http://127.0.0.1:${await listening(server)}`;
  onTestFinished(() => void server.close());
  return { account: { ...account, tokenUrl: `${url}/token`, printEndpoint: `${url}/v2/jobs` }, keys };
}

/** Prints there with one second for each answer. @param drive resolves with the job's ID */
async function printsWhereAnswersBreak(drive: (account: object) => Promise<string>): Promise<void> {
  const service = await breakingService();
  expect(await drive(service.account)).toBe('job');
  expect(service.keys).toEqual(new Array(5).fill('order-3'));
}

function python(program: string) {
  return run('python3', ['-W', 'error', '-c', program], {
    env: { ...process.env, PYTHONPATH: join(CLIENTS, 'python'), PYTHONDONTWRITEBYTECODE: '1' },
    timeout: 60_000,
  });
}

test('JavaScript', async () => {
  const client = new Platen(account);
  expect((await client.validate(request())).labels).toBe(1);
  const before = (await up.pictures()).length;
  const id = await client.print(request(), { idempotencyKey: 'order-1' });
  expect(await client.print(request(), { idempotencyKey: 'order-1' })).toBe(id);
  const job = await client.waitFor(id, { signal: AbortSignal.timeout(30_000) });
  expect([job.id, job.status, job.labels.printed]).toEqual([id, 'printed', 1]);
  expect((await up.pictures()).length - before).toBe(1);
  await expect(client.print({ ...request(), idT: 'none' })).rejects.toMatchObject({
    status: 404,
    code: 'template-not-found',
    retrySafe: false,
    idempotencyKey: expect.any(String),
  });
  await expect(client.job(id, { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
  await expect(new Platen({ ...account, apiSecret: 'wrong' }).job(id)).rejects.toMatchObject({
    status: 401,
    code: 'invalid_client',
  });
});

test('Python', async () => {
  const program = `
import json, sys
from platen import Platen, PlatenError
told = json.load(sys.stdin)
client = Platen(told["account"])
assert client.validate(told["request"])["labels"] == 1
job = client.print(told["request"], idempotency_key="order-2")
assert client.print(told["request"], idempotency_key="order-2") == job
try:
    client.print(dict(told["request"], idT="none"))
    sys.exit("accepted")
except PlatenError as error:
    assert (error.status, error.code, error.retry_safe) == (404, "template-not-found", False), error.code
    assert error.idempotency_key
print(job, client.wait_for(job, timeout=30)["status"])
`;
  const before = (await up.pictures()).length;
  const running = python(program);
  running.child.stdin?.end(JSON.stringify({ account, request: request() }));
  const { stdout } = await running;
  const [id = '', status] = stdout.trim().split(' ');
  expect([status, (await up.ended(id)).status]).toEqual(['printed', 'printed']);
  expect((await up.pictures()).length - before).toBe(1);
});

test('Python takes a webhook for right where npm does', async () => {
  const program = `
import json, sys
from platen import PlatenError, webhooks
for case in json.load(sys.stdin):
    try:
        assert webhooks.verify(case["secrets"], case["body"].encode(), case["headers"])["type"] == "job.held"
        verified = True
    except PlatenError as error:
        assert error.code == "webhook-unverified" and error.status is None, error.code
        verified = False
    assert verified == case["verified"], case["what"]
`;
  const running = python(program);
  running.child.stdin?.end(JSON.stringify(webhookCases()));
  await running;
});

test('JavaScript sends the same job again where an answer breaks off', async () => {
  await printsWhereAnswersBreak(async (there) => {
    const client = new Platen({ ...account, ...there }, { timeoutMs: 1_000 });
    return await client.print(request(), { idempotencyKey: 'order-3' });
  });
});

test('Python sends the same job again where an answer breaks off', async () => {
  const program = `
import json, sys
from platen import Platen
told = json.load(sys.stdin)
print(Platen(told["account"], timeout=1.0).print(told["request"], idempotency_key="order-3"))
`;
  await printsWhereAnswersBreak(async (there) => {
    const running = python(program);
    running.child.stdin?.end(JSON.stringify({ account: there, request: request() }));
    return (await running).stdout.trim();
  });
});

describe.each([
  {
    language: 'Java',
    compile: (to: string) =>
      run('javac', ['-Xlint:all', '-Werror', '-d', to, source('java/Platen.java'), program('java')]),
    command: (to: string) => ['java', '-cp', to, 'Drive'],
  },
  {
    language: 'C#',
    compile: (to: string) =>
      run('mcs', [
        '-warnaserror',
        '-r:System.Net.Http.dll',
        `-out:${join(to, 'drive.exe')}`,
        source('csharp/Platen.cs'),
        program('cs'),
      ]),
    command: (to: string) => ['mono', join(to, 'drive.exe')],
  },
])('$language', ({ compile, command }) => {
  let compiled: string;
  beforeAll(async () => {
    compiled = await mkdtemp(join(directory.path, 'compiled-'));
    await compile(compiled);
  });
  const drive = async (what: string, told: unknown) => {
    const [file = '', ...words] = command(compiled);
    const running = run(file, [...words, what], { timeout: 60_000 });
    running.child.stdin?.end(JSON.stringify(told));
    return (await running).stdout.trim();
  };

  test('prints a label and waits for it', async () => {
    const before = (await up.pictures()).length;
    const [id = '', status] = (await drive('print', { account, request: request() })).split(' ');
    expect([status, (await up.ended(id)).status]).toEqual(['printed', 'printed']);
    expect((await up.pictures()).length - before).toBe(1);
  });

  test('sends the same job again where an answer breaks off', async () => {
    await printsWhereAnswersBreak(
      async (there) => await drive('print-once', { account: there, request: request() }),
    );
  });

  test('takes a webhook for right where npm does', async () => {
    const cases = webhookCases();
    expect(await drive('verify', cases)).toBe(`${cases.length} messages`);
  });
});

test('a retry has the same key, waits as long as it is asked to, and one token serves all', async () => {
  const keys: (string | undefined)[] = [];
  const at: number[] = [];
  let tokens = 0;
  const said: [number, Record<string, string>, unknown][] = [
    [429, { 'retry-after': '1' }, { code: 'too-many-requests', retrySafe: true }],
    [503, {}, { code: 'unavailable', retrySafe: true }],
    [201, {}, ['job']],
  ];
  const server = createServer((asked: IncomingMessage, answer: ServerResponse) => {
    asked.resume();
    if (asked.url === '/token') {
      tokens += 1;
      answer.end(JSON.stringify({ access_token: 'token', expires_in: 600 }));
      return;
    }
    keys.push(asked.headers['idempotency-key']?.toString());
    at.push(performance.now());
    const [status, headers, body] = said.shift() ?? [400, {}, { code: 'payload-invalid', retrySafe: false }];
    answer.writeHead(status, headers).end(JSON.stringify(body));
  });
  const url = `http://127.0.0.1:${await listeningForTest(server)}`;
  const client = new Platen({ ...account, tokenUrl: `${url}/token`, printEndpoint: `${url}/v2/jobs` });
  expect(await client.print({ idT: 'x', printer: 'p', data: [{}] })).toBe('job');
  expect(keys).toHaveLength(3);
  expect(new Set(keys).size).toBe(1);
  expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThan(990);
  const refused = await client.print({ idT: 'x', printer: 'p' }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(PlatenError);
  expect(refused).toMatchObject({ status: 400, code: 'payload-invalid' });
  expect(keys).toHaveLength(4);
  expect(keys[3]).not.toBe(keys[0]);
  expect(tokens).toBe(1);
});
