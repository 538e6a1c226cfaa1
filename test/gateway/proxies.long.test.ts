/**
 * An agent at another site, as a package has it, behind a proxy that wants a password (squid), of a service behind nginx
 * with its defaults and TLS: from the code to the label.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Programs } from '../kit/programs/programs.ts';
import { SQUID_USER, startNginx, startSquid } from '../kit/programs/web-proxies.ts';
import { Branch, pinOf } from '../kit/service/branch.ts';
import { ServiceHarness } from '../kit/service/harness.ts';
import { selfSigned } from '../kit/wire/certificate.ts';
import { freePort } from '../kit/wire/listening.ts';

const root = mkdtempSync(join(tmpdir(), 'platen-test-proxies-'));
const proxies = new Programs();
const { key, cert } = selfSigned();
let service: ServiceHarness;
let branch: Branch;
let squid: { port: number; log: string };

beforeAll(async () => {
  const port = await freePort();
  service = await ServiceHarness.start({
    redis: false,
    config: { publicUrl: `https://127.0.0.1:${port}`, trustProxy: 1 },
  });
  branch = new Branch(service, 'acme');
  await startNginx(proxies, { root, port, service: service.url, key, cert });
  const squidPort = await freePort();
  squid = { port: squidPort, log: await startSquid(proxies, root, squidPort) };
  await service.tenant('acme');
});
afterEach(() => branch.end());
afterAll(async () => {
  await proxies.end();
  await service.stop();
  branch.directories.remove();
  rmSync(root, { recursive: true, force: true });
});

/** The environment of a site. @param more what is not as it should be */
function site(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { name, password } = SQUID_USER;
  const trust = { NODE_EXTRA_CA_CERTS: join(root, 'cert.pem') };
  const proxy = { HTTPS_PROXY: `http://${name}:${password}@127.0.0.1:${squid.port}` };
  return { PATH: process.env['PATH'], HOME: root, ...trust, ...proxy, ...more };
}

test('a label is printed through squid, with its password, and nginx, with its defaults', async () => {
  const data = branch.directories.make();
  expect(await branch.enroll(`${await branch.invite()}~${pinOf(cert)}`, data, site())).toMatchObject({
    code: 0,
  });
  // Where it enrolled the proxy was named; from then on the agent knows it.
  const { PATH, HOME, NODE_EXTRA_CA_CERTS } = site();
  const its = { PATH, HOME, NODE_EXTRA_CA_CERTS };
  const started = await branch.start(data, its);
  await branch.prints(started);
  // The authority is in the environment of the agent alone.
  const seen = async () => await branch.examined(data, { PATH, HOME });
  expect(await seen()).toMatch(/^warning .*with the key of the invitation; its certificate is valid until/);
  // The code, and the connection.
  const tunnels = () => readFileSync(squid.log, 'utf8');
  expect(tunnels()).not.toContain(SQUID_USER.password);
  expect(started.agent.said()).not.toContain(SQUID_USER.password);
  await branch.end();
  await expect
    .poll(() => tunnels().match(/CONNECT 127\.0\.0\.1:\d+ branch/g)?.length ?? 0, { timeout: 30_000 })
    .toBeGreaterThanOrEqual(2);
  expect(await seen()).toMatch(/^failed .*certificate.*\n.*NODE_EXTRA_CA_CERTS/);
  const wrong = site({ HTTPS_PROXY: `http://branch:wrong@127.0.0.1:${squid.port}` });
  expect(await branch.examined(data, wrong)).toMatch(/^failed .*407.*\n.*user and password of the proxy/);
}, 300_000);

test.each([
  [
    'another password',
    () => site({ HTTPS_PROXY: `http://branch:wrong@127.0.0.1:${squid.port}` }),
    '',
    /407|proxy/i,
  ],
  [
    'no trust in who has signed the certificate',
    () => site({ NODE_EXTRA_CA_CERTS: '' }),
    '',
    /does not believe who has signed the certificate/,
  ],
  ['another key than the pinned one', () => site(), `~${'A'.repeat(43)}`, /shows another key/],
])(
  'with %s nobody enrols, and the reason is said',
  async (_, env, suffix, reason) => {
    const invitation = await branch.invite();
    const { code, said } = await branch.enroll(invitation + suffix, branch.directories.make(), env());
    expect(code).toBe(1);
    expect(said).toMatch(reason);
    expect(said).not.toMatch(/wrong@|office-4711/);
    // The code is not used up.
    expect(await branch.enroll(invitation, branch.directories.make(), site())).toMatchObject({ code: 0 });
  },
  180_000,
);
