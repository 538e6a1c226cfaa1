/** The admin token: the environment's where it is set there, and the data directory's own where it is not. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AdminClient } from '../../src/cli/admin-client.ts';
import { SERVICE_FILE, serviceFile } from '../../src/cli/which-service.ts';
import { platen } from '../kit/service/platen.ts';
import { useHost } from '../kit/service/use-host.ts';

const TOKENS = ['the-first-admin-token-0123456789', 'the-other-admin-token-9876543210'] as const;

const host = useHost();
const { programs } = host;

async function service(dataDir: string, adminToken?: string): Promise<string> {
  const server = programs.start(['server', '--data', dataDir, '--port', '0'], {
    ...host.env,
    PLATEN_ADMIN_TOKEN: adminToken,
  });
  await server.until(() => server.said().includes('platen is ready'));
  return server.url;
}

async function answers(url: string, adminToken: string): Promise<string> {
  return await new AdminClient({ url, adminToken }).tenants().then(
    () => 'ok',
    (error) => String(error),
  );
}

test('instances that are given one token take that one, and another one after it was changed', async () => {
  const [first, other] = TOKENS;
  const [a, b] = [host.path('a'), host.path('b')];
  for (const url of await Promise.all([service(a, first), service(b, first)])) {
    expect(await answers(url, first)).toBe('ok');
    expect(await answers(url, other)).toMatch('unauthorized-admin');
  }
  await programs.end();
  const url = await service(a, other);
  expect(await answers(url, other)).toBe('ok');
  expect(await answers(url, first)).toMatch('unauthorized-admin');
  // For commands with --data.
  expect((await platen(['tenant', 'list', '--data', a])).code).toBe(0);
});

test('without one the data directory has its own, and keeps it', async () => {
  const dataDir = host.path('own');
  const kept = async () =>
    serviceFile.parse(JSON.parse(await readFile(join(dataDir, SERVICE_FILE), 'utf8'))).adminToken;
  await service(dataDir);
  const made = await kept();
  expect(made).toMatch(/^[\w-]{43}$/);
  await programs.end();
  // An empty variable, as service managers and compose files make it, is none.
  expect(await answers(await service(dataDir, ''), made)).toBe('ok');
  expect(await kept()).toBe(made);
});

test('one that is too short is refused, and not shown', async () => {
  const { code, stderr } = await platen(['server', '--data', host.path('short'), '--port', '0'], {
    PLATEN_ADMIN_TOKEN: 'abcxyz',
  });
  expect(code).toBe(1);
  expect(stderr).toMatch(/PLATEN_ADMIN_TOKEN=\(a secret, not shown\): expected 24 to 500 visible ASCII/);
  expect(stderr).not.toContain('abcxyz');
});
