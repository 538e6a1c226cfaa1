/** An agent at another site of two instances behind haproxy with TLS: it prints whichever of the two is away. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Programs } from '../kit/programs/programs.ts';
import { startHaproxy } from '../kit/programs/web-proxies.ts';
import { type OpenBackend, onServer } from '../kit/servers/backends.ts';
import { Branch } from '../kit/service/branch.ts';
import { ServiceHarness } from '../kit/service/harness.ts';
import { selfSigned } from '../kit/wire/certificate.ts';
import { freePort } from '../kit/wire/listening.ts';

const root = mkdtempSync(join(tmpdir(), 'platen-test-haproxy-'));
const programs = new Programs();
let backend: OpenBackend;
let publicUrl: string;
let ports: [number, number];
const running = new Set<ServiceHarness>();

beforeAll(async () => {
  backend = await onServer().open({ migrated: true });
  const [port, one, two] = [await freePort(), await freePort(), await freePort()];
  [publicUrl, ports] = [`https://127.0.0.1:${port}`, [one, two]];
  const { key, cert } = selfSigned();
  const file = join(root, 'both.pem');
  writeFileSync(file, cert + key);
  writeFileSync(join(root, 'cert.pem'), cert);
  await startHaproxy(programs, { root, port, one, two, tls: { address: '127.0.0.1', file } });
});
afterEach(async () => {
  for (const instance of running) await stop(instance);
});
afterAll(async () => {
  await programs.end();
  await backend.close();
  rmSync(root, { recursive: true, force: true });
});

async function start(port: number): Promise<ServiceHarness> {
  const instance = await ServiceHarness.start({ backend, config: { port, publicUrl, trustProxy: 1 } });
  running.add(instance);
  return instance;
}

async function stop(instance: ServiceHarness): Promise<void> {
  running.delete(instance);
  await instance.stop();
}

async function isReady(port: number): Promise<void> {
  const status = async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.status;
  await expect.poll(status, { timeout: 60_000 }).toBe(200);
}

test('an agent prints over either instance, and over the other one when that stops', async () => {
  const [one, two] = [await start(ports[0]), await start(ports[1])];
  await one.tenant('acme');
  const branch = new Branch(one, 'acme');
  try {
    await isReady(ports[0]);
    await isReady(ports[1]);
    const env = { PATH: process.env['PATH'], HOME: root, NODE_EXTRA_CA_CERTS: join(root, 'cert.pem') };
    const data = branch.directories.make();
    const invitation = await branch.invite();
    // haproxy has not seen at once that they are there.
    await expect
      .poll(async () => (await branch.enroll(invitation, data, env)).code, {
        timeout: 120_000,
        interval: 500,
      })
      .toBe(0);
    const started = await branch.start(data, env);
    await branch.prints(started, one);
    await stop(one);
    await branch.prints(started, two);
    const again = await start(ports[0]);
    await isReady(ports[0]);
    await stop(two);
    await branch.prints(started, again);
  } finally {
    await branch.end();
    branch.directories.remove();
  }
}, 300_000);
