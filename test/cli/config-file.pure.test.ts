/** The configuration files: a wrong word is named with the one that was meant, and the schema says what there is. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { agentFile, jsonSchemaOf, kindOf, platenFile, readConfigFile } from '../../src/cli/config-file.ts';
import { listenOn } from '../../src/cli/listening.ts';
import { placesFromEnv } from '../../src/cli/places.ts';
import { configFromEnv } from '../../src/server/config.ts';

const directory = mkdtempSync(join(tmpdir(), 'platen-config-'));
afterAll(() => rmSync(directory, { recursive: true }));

function file(content: unknown): string {
  const path = join(directory, 'file.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

test.each([
  ['at the top', { printrs: [] }, 'unknown key "printrs"; did you mean "printers"?'],
  ['within', { discovery: { dnssd: true } }, 'unknown key "dnssd"; did you mean "dnsSd"?\n  → at discovery'],
  [
    'in a list',
    { printers: [{ uri: 'socket://10.0.0.7', heigt: 3 }] },
    'did you mean "height"?\n  → at printers[0]',
  ],
  ['like nothing', { zzzzzz: 1 }, 'unknown key "zzzzzz"'],
  ['no address', { redisUrl: 'http://queue' }, 'expected a redis:// or rediss:// address'],
  ['no JSON', '{', 'Cannot read'],
])('a key %s', async (_what, content, said) => {
  await expect(readConfigFile(file(content), agentFile)).rejects.toThrow(said);
});

test.each([
  ['a record', { agent: [] }, 'expected an object'],
  ['a file’s object', '[]', 'expected an object'],
  ['a whole number', { port: 1.5 }, 'expected a whole number'],
  ['a number', { port: 'http' }, 'expected a'],
  ['a choice', { agent: { printers: [{ uri: 3 }] } }, 'expected'],
])('what is not %s is said in the service’s words', async (_what, content, said) => {
  const wrong = readConfigFile(file(content), platenFile);
  await expect(wrong).rejects.toThrow(said);
  await expect(wrong).rejects.not.toThrow(/Invalid input|received|Too (?:big|small)/);
});

test('the part of the service and that of the agent have the keys that they have alone', async () => {
  const read = await readConfigFile(
    file({ port: 80, service: { tokenLifetime: 60 }, agent: { name: 'dock 3' } }),
    platenFile,
  );
  expect(read).toMatchObject({ port: 80, service: { tokenLifetime: 60 }, agent: { name: 'dock 3' } });
  const wrong = file({ service: { limits: { bodybites: 1 } } });
  await expect(readConfigFile(wrong, platenFile)).rejects.toThrow(
    'unknown key "bodybites"; did you mean "bodyBytes"?\n  → at service.limits',
  );
});

const shelf = { directory: '/srv/labels', template: 'Shelf', printer: 'zebra-1' };

test.each([
  [
    'a relative path',
    { ...shelf, directory: 'labels' },
    /absolute path instead of "labels"\n +→ at folders\[1\]\.directory/,
  ],
  [
    'no printer',
    { directory: '/x', template: 'y' },
    /expected "printer" or "printerId"\n +→ at folders\[1\]\.printer/,
  ],
  [
    'a folder that another entry has',
    { ...shelf, directory: '/srv/labels/' },
    /another folder than "\/srv\/labels\/".*\n +→ at folders\[1\]\.directory/,
  ],
  [
    'a tenant beside an account',
    { ...shelf, directory: '/x', account: '/y', tenant: 'acme' },
    /none beside "account"/,
  ],
  ['a misspelt key', { ...shelf, directory: '/x', setle: 2 }, /did you mean "settle"\?\n +→ at folders\[1\]/],
])('a watched folder with %s is named', async (_what, folder, said) => {
  await expect(readConfigFile(file({ folders: [shelf, folder] }), platenFile)).rejects.toThrow(said);
});

test('the folders of an agent need an account, those of a service may have one', async () => {
  const read = await readConfigFile(file({ folders: [shelf] }), platenFile);
  expect(read.folders).toEqual([{ ...shelf, settle: 2, wait: false }]);
  await expect(readConfigFile(file({ folders: [shelf] }), agentFile)).rejects.toThrow(
    /expected a file with what "platen integration create --json" has printed.*\n +→ at folders\[0\]\.account/,
  );
  const folders = [{ ...shelf, account: '/etc/platen/account.json' }];
  expect((await readConfigFile(file({ folders }), agentFile)).folders).toMatchObject(folders);
});

test('the environment and the file take the same for a database, and say the same of what is none', async () => {
  const places = [
    'postgres://db/x',
    'postgresql:///x?host=/run/postgresql&user=x',
    'postgres://x:%2F@y@/x?host=/run/postgresql',
    'socket:/run/postgresql?db=x&user=x',
    '/run/postgresql x',
  ];
  for (const databaseUrl of places) {
    expect(await readConfigFile(file({ databaseUrl }), platenFile)).toMatchObject({ databaseUrl });
    expect(placesFromEnv({ DATABASE_URL: databaseUrl })).toMatchObject({ databaseUrl });
  }
  const wrong = 'mysql://db/x';
  const expected = /expected a postgres:.*postgresql:.*socket:.*"\/DIRECTORY NAME"/;
  await expect(readConfigFile(file({ databaseUrl: wrong }), platenFile)).rejects.toThrow(expected);
  expect(() => placesFromEnv({ DATABASE_URL: wrong })).toThrow(expected);
});

test.each(['/', '?', '#'])(
  'a password with %s in a database address is named as what is wrong, and not shown',
  async (sign) => {
    const databaseUrl = `postgres://platen:se${sign}cret@127.0.0.1:1/db`;
    const said = /is not a URL: a \/ .* in its password has to be percent-encoded/;
    const wrong = readConfigFile(file({ databaseUrl }), platenFile);
    await expect(wrong).rejects.toThrow(said);
    await expect(wrong).rejects.not.toThrow(/cret/);
    expect(() => placesFromEnv({ DATABASE_URL: databaseUrl })).toThrow(said);
    expect(() => placesFromEnv({ DATABASE_URL: databaseUrl })).not.toThrow(/cret/);
  },
);

test('the schema is the same on every machine', () => {
  const { properties } = jsonSchemaOf(agentFile);
  expect(Object.keys(properties ?? {})).toEqual(expect.arrayContaining(['printers', 'redisUrl', '$schema']));
  expect(properties?.['name']).not.toHaveProperty('default');
  expect(properties?.['renderThreads']).not.toHaveProperty('default');
});

test('which of the two it is, its name says', () => {
  expect(['/etc/platen/agent.json', 'platen.json', 'dock-agent.json'].map(kindOf)).toEqual([
    'agent',
    'platen',
    'agent',
  ]);
});

test.each([
  ['nobody', {}, {}, {}, '127.0.0.1:8310'],
  ['the file', {}, {}, { host: '10.0.0.1', port: 1 }, '10.0.0.1:1'],
  ['the environment', {}, { PLATEN_PORT: '2' }, { host: '10.0.0.1', port: 1 }, '10.0.0.1:2'],
  ['an option', { port: 3 }, { PLATEN_PORT: '2', PLATEN_HOST: '::' }, { port: 1 }, ':::3'],
])('where the service listens, said by %s last', (_who, options, env, written, expected) => {
  const { service, ...own } = listenOn(options, { ...written, service: {} });
  const required = { adminToken: 'x'.repeat(24), secretKey: 'y'.repeat(32) };
  const given = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  const { host, port } = configFromEnv(env, { ...given, ...required }, service);
  expect(`${host}:${port}`).toBe(expected);
});
