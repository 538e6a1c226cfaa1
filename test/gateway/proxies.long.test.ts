/**
 * An agent at another site, as a package has it, behind a proxy that wants a password (squid), of a service behind nginx
 * with its defaults and TLS: from the code to the label.
 */
import { createHash, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { invitationMade } from '../../src/contract/agent-view.ts';
import { Directories, TestPrinter } from '../kit/agent/site.ts';
import { PLATEN } from '../kit/programs/built.ts';
import { Programs } from '../kit/programs/programs.ts';
import { SQUID_USER, startNginx, startSquid } from '../kit/programs/web-proxies.ts';
import { ServiceHarness } from '../kit/service/harness.ts';
import { selfSigned } from '../kit/wire/certificate.ts';
import { freePort } from '../kit/wire/listening.ts';

const directories = new Directories();
const root = mkdtempSync(join(tmpdir(), 'platen-test-proxies-'));
const proxies = new Programs();
const programs = new Programs();
const { key, cert } = selfSigned();
let service: ServiceHarness;
let squid: { port: number; log: string };

beforeAll(async () => {
  const port = await freePort();
  service = await ServiceHarness.start({
    redis: false,
    config: { publicUrl: `https://127.0.0.1:${port}`, trustProxy: 1 },
  });
  await startNginx(proxies, { root, port, service: service.url, key, cert });
  const squidPort = await freePort();
  squid = { port: squidPort, log: await startSquid(proxies, root, squidPort) };
  await service.tenant('acme');
});
afterEach(() => programs.end());
afterAll(async () => {
  await proxies.end();
  await service.stop();
  directories.remove();
  rmSync(root, { recursive: true, force: true });
});

async function invite(): Promise<string> {
  const { body } = await service.admin('POST', '/agents/invitations', { name: 'Dock', tenant: 'acme' });
  return invitationMade.parse(body).url;
}

/** The environment of a site. @param more what is not as it should be */
function site(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { name, password } = SQUID_USER;
  const trust = { NODE_EXTRA_CA_CERTS: join(root, 'cert.pem') };
  const proxy = { HTTPS_PROXY: `http://${name}:${password}@127.0.0.1:${squid.port}` };
  return { PATH: process.env['PATH'], HOME: root, ...trust, ...proxy, ...more };
}

async function enroll(
  invitation: string,
  data: string,
  env = site(),
): Promise<{ code: number | null; said: string }> {
  const program = programs.start(PLATEN, ['agent', 'enroll', invitation, '--data', data], { env });
  const code = await program.exited(60_000);
  return { code, said: program.said() };
}

/** What `platen doctor` says of the service that the agent has enrolled with. */
async function examined(data: string, env: NodeJS.ProcessEnv): Promise<string> {
  const program = programs.start(PLATEN, ['doctor', '--data', data], { env });
  await program.exited(60_000);
  return /^.*service elsewhere: .*\n.*/m.exec(program.said())?.[0] ?? program.said();
}

/** SHA-256 of the service's public key, as the page makes it. */
function pin(): string {
  const der = new X509Certificate(cert).publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('base64url');
}

test('a label is printed through squid, with its password, and nginx, with its defaults', async () => {
  const printer = new TestPrinter(directories);
  await printer.start();
  try {
    const data = directories.make();
    expect(await enroll(`${await invite()}~${pin()}`, data)).toMatchObject({ code: 0 });
    const words = ['agent', '--data', data, '--printer', printer.uri];
    programs.start(PLATEN, words, { env: site() });
    // The proxy and the authority are in the environment of the agent alone.
    const { PATH, HOME } = site();
    const seen = async () => await examined(data, { PATH, HOME });
    const printers = async () => JSON.stringify((await service.admin('GET', '/printers?tenant=acme')).body);
    await expect.poll(printers, { timeout: 90_000 }).toContain('"status":"idle"');
    const idT = await service.template('acme', {
      ...{ name: 'One', width: 50, height: 25, fields: [{ name: 'n' }] },
      elements: [{ type: 'text', x: 2, y: 2, text: 'label {{n}}', size: 4 }],
    });
    const [, printerId] = /"id":"([^"]+)"/.exec(await printers()) ?? [];
    const body = { idT, printerId, data: [{ n: '1' }] };
    expect((await service.admin('POST', '/tenants/acme/jobs', body)).status).toBe(201);
    const jobs = async () => JSON.stringify((await service.admin('GET', '/jobs?tenant=acme')).body);
    await expect.poll(jobs, { timeout: 90_000 }).toContain('"status":"printed"');
    expect(printer.odometer).toBe(1);
    expect(await seen()).toMatch(/^warning .*with the key of the invitation; its certificate is valid until/);
    // The code, and the connection.
    const tunnels = readFileSync(squid.log, 'utf8');
    await programs.end();
    await expect
      .poll(() => readFileSync(squid.log, 'utf8').match(/CONNECT 127\.0\.0\.1:\d+ branch/g)?.length ?? 0, {
        timeout: 30_000,
      })
      .toBeGreaterThanOrEqual(2);
    expect(await seen()).toMatch(/^failed .*certificate.*\n.*NODE_EXTRA_CA_CERTS/);
    const wrong = site({ HTTPS_PROXY: `http://branch:wrong@127.0.0.1:${squid.port}` });
    expect(await examined(data, wrong)).toMatch(/^failed .*407.*\n.*user and password of the proxy/);
    expect(tunnels).not.toContain(SQUID_USER.password);
  } finally {
    await printer.stop();
  }
}, 300_000);

test.each([
  [
    'another password',
    () => site({ HTTPS_PROXY: `http://branch:wrong@127.0.0.1:${squid.port}` }),
    '',
    /407|proxy/i,
  ],
  ['no trust in who has signed the certificate', () => site({ NODE_EXTRA_CA_CERTS: '' }), '', /certificate/i],
  ['another key than the pinned one', () => site(), `~${'A'.repeat(43)}`, /shows another key/],
])(
  'with %s nobody enrols, and the reason is said',
  async (_, env, suffix, reason) => {
    const invitation = await invite();
    const { code, said } = await enroll(invitation + suffix, directories.make(), env());
    expect(code).toBe(1);
    expect(said).toMatch(reason);
    expect(said).not.toMatch(/wrong@|office-4711/);
    // The code is not used up.
    expect(await enroll(invitation, directories.make())).toMatchObject({ code: 0 });
  },
  180_000,
);
