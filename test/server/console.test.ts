/** The console's files as they are served: what is cached, compressed, refused, and the policy that they come with. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLogger } from '../../src/log.ts';
import { createApp } from '../../src/server/app.ts';
import { serverConfig } from '../../src/server/config.ts';
import { consoleRoutes } from '../../src/server/console.ts';

const SCRIPT = 'console.log("hello");\n'.repeat(50);
let directory: string;
let app: FastifyInstance;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'platen-console-'));
  app = createApp(serverConfig.parse({}), createLogger({ level: 'silent' }));
  consoleRoutes(app, pathToFileURL(`${directory}/built/`));
});
afterAll(async () => {
  await app.close();
  await rm(directory, { recursive: true, force: true });
});

test('before it is built: a word of what to do; once it is, its page', async () => {
  const before = await app.inject('/console/');
  expect([before.statusCode, before.json()]).toMatchObject([404, { code: 'not-found' }]);
  expect(before.body).toContain('npm run setup');
  await mkdir(join(directory, 'built/assets'), { recursive: true });
  const write = (name: string, bytes: string | Uint8Array) =>
    writeFile(join(directory, 'built', name), bytes);
  await write('assets/main-2SVNHV6S.js', SCRIPT);
  await write('assets/main-2SVNHV6S.js.br', brotliCompressSync(SCRIPT));
  await write('assets/main-2SVNHV6S.js.gz', gzipSync(SCRIPT));
  await write('index.html', '<!doctype html><title>Platen</title>');
  await write('meta.json', '{"secret": true}');
  await writeFile(join(directory, 'outside.js'), 'outside');
  const page = await app.inject('/console/');
  expect([page.statusCode, page.body]).toEqual([200, '<!doctype html><title>Platen</title>']);
  expect(page.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
      "form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  });
  const again = await app.inject({
    url: '/console/',
    headers: { 'if-none-match': String(page.headers.etag) },
  });
  expect([again.statusCode, again.body]).toEqual([304, '']);
});

test.each([
  ['br, gzip', 'br'],
  ['gzip;q=1, br;q=0', 'gzip'],
  ['identity', undefined],
])('to who takes %s the script goes as %s', async (accepted, coding) => {
  const answer = await app.inject({
    url: '/console/assets/main-2SVNHV6S.js',
    headers: { 'accept-encoding': accepted },
  });
  expect(answer.headers['content-encoding']).toBe(coding);
  const bytes =
    { br: brotliCompressSync(SCRIPT), gzip: gzipSync(SCRIPT) }[coding ?? ''] ?? Buffer.from(SCRIPT);
  expect(answer.rawPayload.equals(bytes)).toBe(true);
  expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  expect(answer.headers.vary).toBe('accept-encoding');
});

test.each([
  '/console/meta.json',
  '/console/assets',
  '/console/../outside.js',
  '/console/%2e%2e/outside.js',
  '/console/..%2foutside.js',
  '/console/assets/main-2SVNHV6S.js.br',
  '/console/__proto__',
])('%s is nothing', async (url) => {
  const answer = await app.inject(url);
  expect([answer.statusCode, answer.body.includes('outside"')]).toEqual([404, false]);
  expect(answer.json()).toMatchObject({ code: 'not-found' });
});

test('an address without its # leads a browser to the page, and a program learns that there is none', async () => {
  const accept = 'text/html,*/*;q=0.8';
  const to = async (url: string) => (await app.inject({ url, headers: { accept } })).headers.location;
  expect(await to('/console/nonsense')).toBe('/console/#/nonsense');
  expect(await to('/console/jobs/0199')).toBe('/console/#/jobs/0199');
  expect(await to('/console//example.com')).toBeUndefined();
  expect(await to('/console/missing.js')).toBeUndefined();
  expect((await app.inject('/console/nonsense')).statusCode).toBe(404);
});

test('a browser is led to it from /, a program is told', async () => {
  const browser = await app.inject({
    url: '/',
    headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' },
  });
  expect([browser.statusCode, browser.headers.location]).toEqual([302, '/console/']);
  expect((await app.inject({ url: '/', headers: { accept: '*/*' } })).statusCode).toBe(404);
  expect((await app.inject('/console')).headers.location).toBe('/console/');
});
