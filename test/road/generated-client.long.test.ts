/**
 * What an integrator's generator makes of `/openapi.json` compiles under `tsc --strict`, and prints a label; and the
 * linters that integrators use find nothing in it.
 * The generators want another TypeScript than the project: they are a package of their own, `test/generated-client`,
 * which is fetched from npm once and kept in `node_modules/.cache`.
 */
import { execFile } from 'node:child_process';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installed } from '../kit/programs/installed.ts';
import { PlatenUp } from '../kit/service/platen.ts';
import { useDirectory } from '../kit/service/use-directory.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..');
const PACKAGE = join(ROOT, 'test', 'generated-client');
const TEMPLATE = {
  name: 'Client',
  width: 101.6,
  height: 152.4,
  fields: [{ name: 'typed' }],
  elements: [{ type: 'text', x: 4, y: 4, text: '{{typed}}', size: 6 }],
};
/** ms for one program. */
const LIMIT = 120_000;

const directory = useDirectory();
let up: PlatenUp;
let env: Record<string, string>;
beforeAll(async () => {
  const [modules] = await Promise.all([
    installed('generated-client'),
    PlatenUp.start({ dataDir: join(directory.path, 'data') }).then((started) => {
      up = started;
    }),
  ]);
  await cp(PACKAGE, join(directory.path, 'client'), { recursive: true });
  await symlink(modules, join(directory.path, 'client', 'node_modules'));
  for (const name of ['openapi.json', 'openapi-3.0.json']) {
    const api = await (await fetch(`${up.url}/${name}`)).text();
    await writeFile(join(directory.path, 'client', name), api);
  }
  const account = await up.admin.createIntegration('default', {
    name: 'generated',
    scope: ['jobs:enqueue', 'jobs:read'],
  });
  const template = await up.admin.importTemplate('default', TEMPLATE);
  env = {
    URL: up.url,
    API_KEY: account.apiKey,
    API_SECRET: account.apiSecret,
    TENANT: 'default',
    TEMPLATE: template.id,
    PRINTER: 'virtual-1',
  };
}, 300_000);
afterAll(() => up?.stop());

/** A program of the package's, in the client's directory; what it wrote. */
async function tool(name: string, ...args: string[]): Promise<string> {
  const cwd = join(directory.path, 'client');
  const bin = name === 'node' ? process.execPath : join(cwd, 'node_modules', '.bin', name);
  try {
    // Redocly would tell its makers of each run.
    const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const all = { ...process.env, ...env, ...quiet };
    const { stdout } = await run(bin, args, { cwd, env: all, timeout: LIMIT });
    return stdout.trim();
  } catch (error) {
    const { stdout = '', stderr = '' } = Object(error);
    throw new Error(`${name} ${args.join(' ')}:\n${stdout}${stderr}`);
  }
}

test.each([
  ['openapi-fetch', ['openapi-typescript', 'openapi.json', '-o', 'schema.ts']],
  // On the older document: what a generator of that age would read.
  ['hey-api', ['openapi-ts', '-i', 'openapi-3.0.json', '-o', 'client', '-c', '@hey-api/client-fetch']],
])('%s', async (name, [generator = '', ...args]) => {
  await tool(generator, ...args);
  const program = `print-with-${name}`;
  const compilerOptions = {
    strict: true,
    target: 'es2022',
    lib: ['es2023', 'dom', 'dom.iterable'],
    module: 'nodenext',
    types: [],
    outDir: 'made',
  };
  const settings = JSON.stringify({ compilerOptions, files: ['process.d.ts', `${program}.ts`] });
  await writeFile(join(directory.path, 'client', 'tsconfig.json'), settings);
  await tool('tsc', '-p', 'tsconfig.json');
  const id = await tool('node', join('made', `${program}.js`));
  expect(await up.ended(id)).toMatchObject({ status: 'printed', labels: { total: 1, printed: 1 } });
});

describe.each(['openapi.json', 'openapi-3.0.json'])('in %s', (document) => {
  test.each([
    ['redocly', ['--extends', 'recommended-strict']],
    ['spectral', ['--ruleset', '.spectral.yaml', '--fail-severity', 'hint']],
  ])('%s finds nothing', async (name, args) => {
    await tool(name, 'lint', document, ...args);
  });
});

test('the document in 3.0.3 says the same of a request as the one in 3.1', async () => {
  const [api, older] = await Promise.all(
    ['openapi.json', 'openapi-3.0.json'].map(async (name) =>
      JSON.parse(await readFile(join(directory.path, 'client', name), 'utf8')),
    ),
  );
  expect([api.openapi, older.openapi]).toEqual(['3.1.0', '3.0.3']);
  const operations = (document: typeof api) =>
    Object.entries<object>(document.paths).map(([path, of]) => [path, Object.keys(of)]);
  expect(operations(older)).toEqual(operations(api));
  const { PrintRequest } = older.components.schemas;
  expect([PrintRequest.required, PrintRequest.anyOf]).toEqual([
    api.components.schemas.PrintRequest.required,
    api.components.schemas.PrintRequest.anyOf,
  ]);
  expect(older.components.schemas.Job.properties.error).toMatchObject({ nullable: true });
});

test('the document says what is needed, and has no default that a generator would take for a value', async () => {
  const api = JSON.parse(await readFile(join(directory.path, 'client', 'openapi.json'), 'utf8'));
  const { PrintRequest } = api.components.schemas;
  expect(PrintRequest.required).toEqual(['idT']);
  expect(PrintRequest.anyOf).toEqual([{ required: ['printerId'] }, { required: ['printer'] }]);
  expect(JSON.stringify(api)).not.toContain('"default":');
  expect(PrintRequest.properties.numberCopies.description).toContain('Default: `1`');
});
