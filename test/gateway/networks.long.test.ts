/**
 * Networks between an agent at another site and its service that are not as they should be, or that read what is sent: an agent
 * says what is in its way, goes on trying, and prints once it gets through. And IPv6.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Programs } from '../kit/programs/programs.ts';
import {
  SQUID_USER,
  startInspection,
  startNginx,
  startPortal,
  startSquid,
} from '../kit/programs/web-proxies.ts';
import { Branch, pinOf } from '../kit/service/branch.ts';
import { ServiceHarness } from '../kit/service/harness.ts';
import { selfSigned } from '../kit/wire/certificate.ts';
import { freePort } from '../kit/wire/listening.ts';

const { key, cert } = selfSigned('127.0.0.1,IP:::1');
const roots: string[] = [];
const proxies = new Programs();
const [ports, root] = [{ service: 0, six: 0 }, directory()];
let service: ServiceHarness;
let branch: Branch;

beforeAll(async () => {
  [ports.service, ports.six] = [await freePort(), await freePort()];
  service = await started(`https://127.0.0.1:${ports.service}`);
  branch = new Branch(service, 'acme');
});
afterEach(async () => {
  await branch.end();
  await proxies.end();
});
afterAll(async () => {
  await service.stop();
  branch.directories.remove();
  for (const made of roots) rmSync(made, { recursive: true, force: true });
});

function directory(): string {
  const made = mkdtempSync(join(tmpdir(), 'platen-test-networks-'));
  roots.push(made);
  return made;
}

async function started(publicUrl: string): Promise<ServiceHarness> {
  const made = await ServiceHarness.start({ redis: false, config: { publicUrl, trustProxy: 1 } });
  await made.tenant('acme');
  return made;
}

/** nginx before the service, which ends TLS. */
async function nginx(): Promise<void> {
  await startNginx(proxies, { root, port: ports.service, service: service.url, key, cert });
}

/** The environment of a site. @param authority the file of whom it believes */
function site(authority: string | undefined, proxy?: number): NodeJS.ProcessEnv {
  return {
    ...{ PATH: process.env['PATH'], HOME: root },
    ...(authority !== undefined && { NODE_EXTRA_CA_CERTS: authority }),
    ...(proxy !== undefined && { HTTPS_PROXY: `http://127.0.0.1:${proxy}` }),
  };
}

const known = () => site(join(root, 'cert.pem'));

test.each([
  ['by itself', false],
  ['through squid', true],
])(
  'a label is printed over IPv6, %s',
  async (_, isThroughSquid) => {
    const six = await started(`https://[::1]:${ports.six}`);
    const far = new Branch(six, 'acme');
    try {
      const place = { root: directory(), port: ports.six, address: '::1' };
      await startNginx(proxies, { ...place, service: six.url, key, cert });
      const [squidRoot, port] = [directory(), await freePort()];
      const log = isThroughSquid ? await startSquid(proxies, squidRoot, port) : undefined;
      const { name, password } = SQUID_USER;
      const proxy = isThroughSquid ? { HTTPS_PROXY: `http://${name}:${password}@127.0.0.1:${port}` } : {};
      const env = { ...site(join(place.root, 'cert.pem')), ...proxy };
      const invitation = await far.invite();
      expect(invitation).toMatch(/^https:\/\/\[::1\]:\d+#/);
      const data = far.directories.make();
      expect(await far.enroll(`${invitation}~${pinOf(cert)}`, data, env)).toMatchObject({ code: 0 });
      await far.prints(await far.start(data, env));
      await far.end();
      if (log === undefined) return;
      const tunnels = () => readFileSync(log, 'utf8').match(/CONNECT \[::1\]:\d+ branch/g)?.length;
      await expect.poll(tunnels, { timeout: 30_000 }).toBeGreaterThanOrEqual(2);
    } finally {
      await far.end();
      far.directories.remove();
      await six.stop();
    }
  },
  300_000,
);

test('where what is sent is read on the way, a label is printed with that authority, and nothing is sent with a pin', async () => {
  await nginx();
  const [own, port] = [directory(), await freePort()];
  const upstream = join(root, 'cert.pem');
  const authority = await startInspection(proxies, { root: own, port, upstream, webSockets: true });
  const inspected = site(authority, port);
  const [invitation, pin] = [await branch.invite(), pinOf(cert)];

  const pinned = await branch.enroll(`${invitation}~${pin}`, branch.directories.make(), inspected);
  expect(pinned).toMatchObject({ code: 1, said: expect.stringContaining('shows another key') });
  const unknown = await branch.enroll(invitation, branch.directories.make(), site(undefined, port));
  expect(unknown.code).toBe(1);
  expect(unknown.said).toMatch(/does not believe who has signed the certificate .*inspected on the way/);

  // The code is not used up by either.
  const data = branch.directories.make();
  expect(await branch.enroll(invitation, data, inspected)).toMatchObject({ code: 0 });
  await branch.prints(await branch.start(data, inspected));
  expect(await branch.examined(data, inspected)).toMatch(/^(ok|warning) .*answers; its certificate is valid/);

  // One that has enrolled where nobody reads, comes into this network.
  const moved = branch.directories.make();
  expect(await branch.enroll(`${await branch.invite()}~${pin}`, moved, known())).toMatchObject({ code: 0 });
  const { agent } = await branch.start(moved, inspected);
  await agent.until(() => agent.said().includes('shows another key'));
  expect(agent.said()).not.toContain('joined the service');
  expect(await branch.examined(moved, inspected)).toMatch(/^failed .*shows another key.*\n.*another code/);
}, 300_000);

test('behind a proxy that reads what is sent and passes no WebSockets on, an agent says so', async () => {
  await nginx();
  const [own, port] = [directory(), await freePort()];
  const upstream = join(root, 'cert.pem');
  const authority = await startInspection(proxies, { root: own, port, upstream, webSockets: false });
  const [inspected, data] = [site(authority, port), branch.directories.make()];
  expect(await branch.enroll(await branch.invite(), data, inspected)).toMatchObject({ code: 0 });
  const { agent } = await branch.start(data, inspected);
  const words =
    /it answers without a WebSocket \(HTTP 4\d\d\): does everything on the way pass WebSockets on/;
  await agent.until(() => words.test(agent.said()));
  expect(await branch.examined(data, inspected)).toMatch(
    /^failed .*without a WebSocket.*\n.*pass WebSockets on/,
  );
}, 300_000);

test.each([
  ['with TLS', { key, cert }, /a page answers in its place \(HTTP 200\): is there a page to sign in/],
  ['without TLS', {}, /what answers there speaks no TLS: is there a page to sign in/],
])(
  'behind a page to sign in, %s, an agent says so, goes on trying, and prints once it is let through',
  async (_, tls, words) => {
    await nginx();
    const data = branch.directories.make();
    expect(await branch.enroll(await branch.invite(), data, known())).toMatchObject({ code: 0 });
    const invitation = await branch.invite();
    await proxies.end();

    const portal = await startPortal(proxies, { root, port: ports.service, ...tls });
    const refused = await branch.enroll(invitation, branch.directories.make(), known());
    expect(refused).toMatchObject({
      code: 1,
      said: expect.stringMatching(/is (there )?a page to sign in before it\?/),
    });
    const begun = await branch.start(data, known());
    await begun.agent.until(() => words.test(begun.agent.said()));
    expect(await branch.examined(data, known())).toMatch(
      /^failed .*page to sign in.*\n.*Sign in with a browser/,
    );
    expect(begun.agent.said()).not.toContain('joined the service');

    await portal.end();
    await nginx();
    await branch.prints(begun);
    expect(await branch.enroll(invitation, branch.directories.make(), known())).toMatchObject({ code: 0 });
  },
  300_000,
);
