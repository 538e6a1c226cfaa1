/**
 * What opens printers, and what templates bring, stays where it was put: a run at the most talkative log level, with
 * printers that ask for a password in each way, and not one of the secrets in what it wrote or kept.
 */

import { randomUUID } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { VirtualIppPrinter } from '../../src/virtual/ipp/ipp-printer.ts';
import { OCR_B } from '../kit/judges/sample-fonts.ts';
import { PlatenUp, platen, temporaryDirectory } from '../kit/service/platen.ts';
import { smallLabel } from '../kit/service/small-label.ts';
import { listeningForTest } from '../kit/wire/listening.ts';

const USER = `user-${randomUUID()}`;
const PASSWORD = `password-${randomUUID()}`;
const COMMUNITY = `community-${randomUUID()}`;
const PATIENT = `Patient-${randomUUID()}`;

async function directory(): Promise<string> {
  const made = await temporaryDirectory();
  onTestFinished(() => made[Symbol.asyncDispose]());
  return made.path;
}

/** A server that answers `challenge` to whoever does not say who it is, and hands others to `then`. */
async function guarded(challenge: string, then: (asked: IncomingMessage, answer: ServerResponse) => void) {
  const heard: string[] = [];
  const server = createServer((asked, answer) => {
    const { authorization } = asked.headers;
    if (authorization !== undefined) {
      heard.push(authorization);
      then(asked, answer);
      return;
    }
    asked.resume();
    answer.writeHead(401, { 'www-authenticate': challenge }).end();
  });
  const port = await listeningForTest(server);
  return { host: `127.0.0.1:${port}`, heard };
}

async function printer(): Promise<VirtualIppPrinter> {
  const made = new VirtualIppPrinter({
    name: 'guarded',
    outDir: await directory(),
    dpi: 203,
    width: 50,
    height: 25,
    announce: false,
  });
  await made.start();
  onTestFinished(() => made.stop());
  return made;
}

const DIGEST = 'Digest realm="labels", nonce="n1", qop="auth", algorithm=SHA-256';

/** Everything under a directory, as bytes in which a text can be looked for. */
async function contents(path: string): Promise<string> {
  const files = (await readdir(path, { recursive: true, withFileTypes: true })).filter((one) => one.isFile());
  const parts = await Promise.all(files.map((one) => readFile(join(one.parentPath, one.name), 'latin1')));
  return parts.join('\n');
}

test('no password, community, font or value in logs, lists and what the agent keeps', async () => {
  const behind = await printer();
  const open = await guarded(DIGEST, (asked, answer) => {
    const { method, url: path, headers } = asked;
    const on = request({ host: '127.0.0.1', port: behind.port, method, path, headers }, (said) => {
      answer.writeHead(said.statusCode ?? 500, said.headers);
      said.pipe(answer);
    });
    asked.pipe(on);
  });
  const refuse = (_: IncomingMessage, answer: ServerResponse) =>
    void answer.writeHead(401, { 'www-authenticate': DIGEST }).end();
  const shut = await guarded(DIGEST, refuse);
  const basic = await guarded('Basic realm="labels"', refuse);

  const path = await directory();
  const config = join(path, 'agent.json');
  const dataDir = join(path, 'data');
  const hosts = [open, shut, basic].map(({ host }) => host);
  const agent = {
    printers: hosts.map((host, index) => ({ uri: `ipp://${host}/ipp/print`, name: `guarded-${index}` })),
    access: hosts.map((host) => ({ host, user: USER, password: PASSWORD })),
    discovery: { snmp: { targets: ['127.9.0.1'], community: COMMUNITY } },
  };
  await writeFile(config, JSON.stringify(agent));
  const args = ['--virtual', '0', '--agent-config', config];
  const up = await PlatenUp.start({ dataDir, args, env: { LOG_LEVEL: 'trace' } });
  onTestFinished(async () => void (await up.stop()));
  await up.printerOnline('guarded-0');
  const font = OCR_B.toString('base64');
  const place = { x: 1, y: 2, width: 48, height: 6 };
  const text = { type: 'text', ...place, size: 3, font: 'Brand', text: '{{patient}}' };
  const fonts = [{ name: 'Brand', data: font }];
  const template = { ...smallLabel('tube', ['patient'], [text]), fonts };
  const { id } = await up.admin.importTemplate('default', template);
  const data = [{ patient: PATIENT }];
  const job = await up.admin.print('default', { idT: id, printer: 'guarded-0', data });
  expect(await up.ended(job)).toMatchObject({ status: 'printed', error: null });
  const broken = { ...template, fonts: [{ name: 'Brand', data: font.slice(0, -400) }] };
  await expect(up.admin.importTemplate('default', broken)).rejects.toThrow(/the font "Brand"/);
  const listed = await platen(['printers', '--json', '--data', dataDir]);
  const looked = await platen([
    'discover',
    '--config',
    config,
    '--interface',
    '127.0.0.1',
    '--seconds',
    '3',
    '--json',
  ]);
  const wrong = join(path, 'wrong.json');
  await writeFile(wrong, JSON.stringify({ ...agent, access: [{ ...agent.access[0], inclear: true }] }));
  const refused = await platen(['up', '--agent-config', wrong, '--data', join(path, 'other')]);
  expect([listed.code, looked.code, refused.code]).toEqual([0, 0, 2]);
  expect(await up.stop()).toBe(0);

  // Each of them was asked, and each was told in its way.
  for (const { heard } of [open, shut, basic]) expect(heard).not.toEqual([]);
  const shown = basic.heard[0]?.replace('Basic ', '') ?? '';
  expect(Buffer.from(shown, 'base64').toString()).toBe(`${USER}:${PASSWORD}`);
  const written = [up.output, ...[listed, looked, refused].flatMap(({ stdout, stderr }) => [stdout, stderr])];
  const kept = await contents(dataDir);
  // It was logged, and kept, and looked for.
  for (const said of [job, 'printer cannot be reached', 'HTTP 401']) expect(up.output).toContain(said);
  expect(kept).toContain(open.host);
  for (const [what, secret] of Object.entries({
    password: PASSWORD,
    'user and password': shown,
    'answer to a Digest': /response="(\w+)"/.exec(open.heard[0] ?? '')?.[1] ?? '',
    community: COMMUNITY,
    font: font.slice(1_000, 1_060),
    value: PATIENT,
  })) {
    expect(secret.length, what).toBeGreaterThan(8);
    expect(written.join('\n').includes(secret), `the output holds the ${what}`).toBe(false);
  }
  for (const secret of [PASSWORD, shown, COMMUNITY]) expect(kept.includes(secret)).toBe(false);
});
