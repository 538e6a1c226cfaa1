/** The command line against a running installation, as a person would use it. */
import { execFile } from 'node:child_process';
import { chown, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { barcodesIn } from '../kit/judges/pictures.ts';
import { PLATEN } from '../kit/programs/built.ts';
import { nobody, nobodyCanRun } from '../kit/programs/ordinary-user.ts';
import { PlatenUp, platen } from '../kit/service/platen.ts';
import { smallLabel } from '../kit/service/small-label.ts';
import { useDirectory } from '../kit/service/use-directory.ts';

const CODE = { type: 'barcode', symbology: 'qr', x: 2, y: 2, value: '{{sku}}', module: 0.5 };
const TEMPLATE = smallLabel('Shelf', ['sku'], [CODE]);

const directory = useDirectory();
let readyFile: string;
let template: string;
let up: PlatenUp;
beforeAll(async () => {
  readyFile = join(directory.path, 'ready.json');
  template = join(directory.path, 'shelf.json');
  await writeFile(template, JSON.stringify(TEMPLATE));
  up = await PlatenUp.start({
    dataDir: join(directory.path, 'data'),
    args: ['--virtual', '2', '--virtual-speed', '100', '--ready-file', readyFile, '--samples'],
    env: { PLATEN_MAX_LABELS: '200000' },
  });
});
afterAll(() => up?.stop());

/** Runs a command on the installation and returns what it printed as JSON. */
async function json<T>(schema: z.ZodType<T>, ...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await platen([...args, '--data', up.dataDir, '--json']);
  expect(stderr.split('\n').filter((line) => line.startsWith('platen:'))).toEqual([]);
  expect(code).toBe(0);
  return schema.parse(JSON.parse(stdout));
}

test('the ready file says where everything is', async () => {
  expect(JSON.parse(await readFile(readyFile, 'utf8'))).toEqual({
    url: up.url,
    tokenUrl: `${up.url}/oauth/token`,
    tenant: 'default',
    audience: 'platen',
    scope: 'jobs:enqueue jobs:read templates:read printers:read',
  });
});

test('a template is renamed, found by its new name, and deleted', async () => {
  const id = z.object({ id: z.string() });
  const other = join(directory.path, 'other.json');
  await writeFile(other, JSON.stringify({ ...TEMPLATE, name: 'To be renamed' }));
  const imported = await json(id, 'template', 'import', other);
  expect(await json(id, 'template', 'rename', 'To be renamed', 'New name')).toEqual(imported);
  const shown = await json(id.extend({ name: z.string() }), 'template', 'show', 'New name');
  expect(shown).toMatchObject({ ...imported, name: 'New name' });
  const deleted = await platen(['template', 'delete', 'New name', '--data', up.dataDir]);
  expect(deleted).toMatchObject({ code: 0, stdout: `${imported.id}  New name  deleted\n` });
  for (const command of ['show', 'delete']) {
    const again = await platen(['template', command, imported.id, '--data', up.dataDir]);
    expect(again.code).not.toBe(0);
    expect(again.stderr).toContain(imported.id);
  }
});

test('printers lists each with its formats and agents', async () => {
  const shape = z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      status: z.string(),
      reasons: z.array(z.string()),
      formats: z.array(z.object({ id: z.string(), name: z.string() })),
      agents: z.array(
        z.object({ id: z.string(), name: z.string(), online: z.boolean(), serves: z.boolean().nullable() }),
      ),
    }),
  );
  const printers = await json(shape, 'printers');
  expect(printers.map((one) => one.name).sort()).toEqual(['virtual-1', 'virtual-2']);
  for (const one of printers) {
    expect(one).toMatchObject({
      reasons: [],
      formats: [{ id: 'zpl-203-101.6x152.4' }],
      agents: [{ online: true }],
    });
  }
});

test('template import, validate, print --wait, job show, jobs', async () => {
  const { code, stdout } = await platen(['template', 'import', template, '--data', up.dataDir]);
  expect(code).toBe(0);
  const id = stdout.trim();
  const validated = await json(
    z.object({ valid: z.literal(true), labels: z.int(), warnings: z.array(z.object({ code: z.string() })) }),
    ...[
      'validate',
      'Shelf',
      '--printer',
      'virtual-2',
      '--field',
      'sku=4711',
      '--field',
      'typo=1',
      '--copies',
      '3',
    ],
  );
  expect(validated.labels).toBe(3);
  expect(validated.warnings.map((one) => one.code)).toEqual(['size-mismatch', 'field-unknown']);
  const shown = await platen([
    ...['validate', 'Shelf label 50×25 mm', '--printer', 'virtual-2', '--field', 'ean=4006381333931'],
    ...['--data', up.dataDir],
  ]);
  expect(shown.stdout).toMatch(
    /^warning: record 1, field "product": the field is missing; .*\[field-missing\]$/m,
  );

  // stdout is what a script reads: the job's ID and nothing else.
  const warned = await platen([
    ...['print', 'Shelf', '--printer', 'virtual-1', '--field', 'sku=4711', '--field', 'typo=1'],
    ...['--data', up.dataDir],
  ]);
  expect(warned).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[0-9a-f-]{36}\n$/) });
  expect(warned.stderr).toBe(
    'warning: differences between the template and the media in the printer: 1 [size-mismatch]\n' +
      'warning: fields that the template does not have: 1 [field-unknown]\n' +
      '"platen validate" with the same options says where.\n',
  );

  const shape = z.object({
    id: z.string(),
    status: z.string(),
    labels: z.object({ total: z.int(), sent: z.int(), printed: z.int() }),
  });
  const job = await json(
    shape,
    'print',
    id,
    '--printer',
    'virtual-2',
    '--field',
    'sku=4711',
    '--copies',
    '3',
    '--wait',
  );
  expect(job).toMatchObject({ status: 'printed', labels: { total: 3, sent: 3, printed: 3 } });
  const pictures = await up.pictures('virtual-2');
  expect(pictures).toHaveLength(3);
  for (const picture of pictures)
    expect(await barcodesIn(picture)).toEqual([{ format: 'QRCode', text: '4711' }]);

  expect(await json(shape, 'job', 'show', job.id)).toMatchObject({ id: job.id, status: 'printed' });
  expect(await json(shape, 'job', 'show', job.id, '--follow')).toMatchObject({ status: 'printed' });
  expect((await json(z.array(shape), 'jobs', '--status', 'printed')).map((one) => one.id)).toContain(job.id);
});

test('the curl line that "up --samples" prints works as it stands', async () => {
  const block = /AUTH=\$\(curl -sS http[\s\S]*?\n\n/.exec(up.output)?.[0] ?? '';
  const { stdout } = await promisify(execFile)('sh', ['-c', block], { timeout: 30_000 });
  const [jobId] = z.tuple([z.string()]).parse(JSON.parse(stdout));
  expect(await up.ended(jobId)).toMatchObject({ status: 'printed' });
});

test('an integration: its configuration table once, then no secret any more', async () => {
  const table = await json(
    z.strictObject({
      tokenUrl: z.url(),
      audience: z.string(),
      scope: z.literal('jobs:enqueue jobs:read templates:read printers:read'),
      tenant: z.literal('default'),
      test: z.literal(false),
      printEndpoint: z.url(),
      apiKey: z.string(),
      apiSecret: z.string(),
    }),
    ...['integration', 'create', '--name', 'wms'],
  );
  const { stdout } = await platen(['integration', 'list', '--data', up.dataDir]);
  expect(stdout).toContain(table.apiKey);
  expect(stdout).not.toContain(table.apiSecret);
});

test('an integration gets a second secret while the first works, and loses it', async () => {
  const { apiKey, apiSecret } = await json(
    z.object({ apiKey: z.string(), apiSecret: z.string() }),
    ...['integration', 'create', '--name', 'rotating'],
  );
  const rotated = await json(
    z.object({ apiSecret: z.string(), oldSecret: z.object({ endsAt: z.iso.datetime() }) }),
    ...['integration', 'rotate', apiKey, '--old-for', '24'],
  );
  expect(rotated.apiSecret).not.toBe(apiSecret);
  const { stdout } = await platen(['integration', 'list', '--data', up.dataDir]);
  expect(stdout).toMatch(new RegExp(`${apiKey} .* never .*two`));
  const left = await json(z.object({ oldSecret: z.null() }), 'integration', 'remove-secret', apiKey);
  expect(left.oldSecret).toBeNull();
  const again = await platen(['integration', 'remove-secret', apiKey, '--data', up.dataDir]);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('there is one secret only')]);
});

test('a quota is set and shown', async () => {
  await json(z.unknown(), 'tenant', 'create', 'small');
  await json(z.unknown(), 'tenant', 'set-quota', 'small', '5');
  const tenants = await json(z.array(z.object({ id: z.string(), quota: z.unknown() })), 'tenant', 'list');
  const quota = { labels: 5, used: 0, tests: { labels: 10_000, used: 0 } };
  expect(tenants.find(({ id }) => id === 'small')?.quota).toEqual(quota);
});

test('printer commands in raw templates are allowed for one tenant, and refused again', async () => {
  const flag = z.object({ printerCommands: z.boolean() });
  await json(z.unknown(), 'tenant', 'create', 'trusted');
  expect((await json(flag, 'tenant', 'set-printer-commands', 'trusted', 'allowed')).printerCommands).toBe(
    true,
  );
  expect((await json(flag, 'tenant', 'set-printer-commands', 'trusted', 'refused')).printerCommands).toBe(
    false,
  );
  const fit = z.object({ mediaMustFit: z.boolean() });
  expect((await json(fit, 'tenant', 'set-media-fit', 'trusted', 'refuse')).mediaMustFit).toBe(true);
  expect((await json(fit, 'tenant', 'set-media-fit', 'trusted', 'warn')).mediaMustFit).toBe(false);
  const wrong = await platen(['tenant', 'set-printer-commands', 'trusted', 'perhaps', '--data', up.dataDir]);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(/allowed, refused/)]);
});

test('a tenant is erased once its ID is typed', async () => {
  await json(z.unknown(), 'tenant', 'create', 'gone', '--name', 'Gone soon');
  const typing = async (text: string) => {
    const running = promisify(execFile)(PLATEN, ['tenant', 'erase', 'gone', '--data', up.dataDir]);
    running.child.stdin?.end(text);
    return await running.then(
      ({ stdout }) => ({ code: 0, stdout, stderr: '' }),
      (error: { code: number; stdout: string; stderr: string }) => error,
    );
  };
  for (const text of ['', 'default\n', 'gone soon\n']) {
    const { code, stderr } = await typing(text);
    expect([code, stderr]).toEqual([1, expect.stringContaining('Nothing is erased')]);
  }
  const list = () => json(z.array(z.object({ id: z.string() })), 'tenant', 'list');
  expect((await list()).map(({ id }) => id)).toContain('gone');
  const { stdout } = await typing('gone\n');
  expect(stdout).toContain('gone is erased, with 0 jobs.');
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain('2 entries of the audit, for 400 days; back-ups');
  expect((await list()).map(({ id }) => id)).not.toContain('gone');
  const again = await platen(['tenant', 'erase', 'gone', '--yes', '--data', up.dataDir]);
  expect([again.code, again.stderr]).toEqual([1, 'platen: There is no tenant "gone".\n']);
});

const discovered = z.object({
  printers: z.array(z.looseObject({ uri: z.string() })),
  providers: z.array(z.looseObject({ provider: z.string() })),
});

test('discover asks the printers that it is given', async () => {
  const { uri } = (await up.admin.printers()).find((one) => one.name === 'virtual-1') ?? { uri: '' };
  const { code, stdout } = await platen(['discover', '--printer', uri, '--seconds', '5', '--json']);
  expect(code).toBe(0);
  const { printers, providers } = discovered.parse(JSON.parse(stdout));
  expect(printers).toContainEqual(expect.objectContaining({ evidence: 'serial', uri, state: 'idle' }));
  expect(providers.map((one) => one.provider).sort()).toEqual(['configured', 'cups', 'dns-sd', 'usb']);
});

test('discover says why a printer that it is given is not there', async () => {
  const { code, stdout } = await platen(['discover', '--printer', 'socket://127.0.0.1:1', '--seconds', '2']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^configured\n {2}socket:\/\/127\.0\.0\.1:1 {2}! .*ECONNREFUSED/m);
});

test('doctor finds everything in order', async () => {
  const findings = await json(z.array(z.object({ check: z.string(), result: z.string() })), 'doctor');
  expect(findings.filter(({ result }) => result !== 'ok')).toEqual([]);
  expect(findings.map(({ check }) => check)).toContain('printer virtual-1');
});

describe('exit codes and messages', () => {
  test.each([
    ['an unknown command', ['prnt'], 2, /unknown command/],
    ['an unknown option', ['jobs', '--sttus', 'x'], 2, /unknown option/],
    ['a bad number', ['up', '--port', '99999'], 2, /whole number from 0 to 65535/],
    ['no address', ['up', '--printer', 'sockt://10.0.0.7'], 2, /unknown scheme sockt:.*printers\[0\].uri/s],
    ['a password in an address', ['discover', '--printer', 'ipp://u:pw@h/p'], 2, /those stand in "access"/],
    ['a bad status', ['jobs', '--status', 'lost'], 2, /expected one of queued, printing/],
    ['an agent without a queue', ['agent', '--data', '/nonexistent'], 2, /set REDIS_URL/],
    ['no service', ['jobs', '--data', '/nonexistent'], 1, /No service found/],
    ['an unknown template', ['print', 'nope', '--printer', 'virtual-1'], 1, /template-not-found/],
    ['an unknown printer', ['print', 'Shelf', '--printer', 'nope', '--field', 'sku=1'], 1, /printer/],
    ['an unknown job', ['job', 'show', '00000000-0000-4000-8000-000000000000'], 1, /job/],
    [
      'records that are not JSON',
      ['print', 'Shelf', '--printer', 'virtual-1', '--records', '/etc/hostname'],
      1,
      /is not JSON/,
    ],
    [
      'more copies than the service prints',
      ['print', 'Shelf', '--printer', 'virtual-1', '--field', 'sku=1', '--copies', '200001'],
      1,
      /200000/,
    ],
  ])('%s', async (_what, args, code, message) => {
    const withData = args.includes('--data') || code === 2 ? args : [...args, '--data', up.dataDir];
    const result = await platen(withData);
    expect(result.stderr).toMatch(message);
    expect(result.stderr).not.toMatch(/^\s+at /m);
    expect(result.code).toBe(code);
    expect(result.stdout).toBe('');
  });
});

test('a .prn file is printed as a document, and named by who takes it for records; as a template it is raw ZPL', async () => {
  const [file, carrier] = ['label.prn', 'carrier.json'].map((name) => join(directory.path, name));
  if (file === undefined || carrier === undefined) throw new Error('no file');
  const zpl =
    '\x10CT~~CD,~CC^~CT~\r\n^XA~TA000^MMT^XZ\r\n^XA^FO9,9^A0N,30^FDone^FS^XZ\r\n^XA^FO9,9^A0N,30^FDtwo^FS^XZ\r\n';
  await writeFile(file, zpl, 'latin1');
  await writeFile(
    carrier,
    JSON.stringify({ name: 'Files', language: 'document', fields: [{ name: 'pdf' }] }),
  );
  const at = ['--printer', 'virtual-1', '--data', up.dataDir];
  expect((await platen(['template', 'import', carrier, '--data', up.dataDir])).code).toBe(0);
  const wrong = await platen(['print', 'Files', '--records', file, ...at]);
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringMatching(/is not JSON.*--document/s)]);
  const designed = await platen(['print', 'Shelf', '--document', file, ...at]);
  expect([designed.code, designed.stderr]).toEqual([1, expect.stringContaining('prints no documents')]);
  const printed = await platen(['print', 'Files', '--document', file, '--wait', '--json', ...at]);
  expect(JSON.parse(printed.stdout)).toMatchObject({ status: 'printed', labels: { total: 2, printed: 2 } });
  await writeFile(file, zpl.slice(0, zpl.lastIndexOf('^XA')), 'latin1');
  expect((await platen(['template', 'check', file])).code).toBe(0);
});

test("copies are counted against the service's own limit, which may be higher than usual", async () => {
  const request = ['Shelf', '--printer', 'virtual-1', '--field', 'sku=1', '--copies', '200000'];
  expect(await json(z.object({ labels: z.int() }), 'validate', ...request)).toEqual({ labels: 200_000 });
});

test('a database address of another kind', async () => {
  const data = join(up.dataDir, 'no-database');
  const { code, stderr } = await platen(['server', '--port', '0', '--data', data], {
    DATABASE_URL: 'mysql://lab:s3cretpw@127.0.0.1/x',
  });
  expect(stderr).toMatch(/DATABASE_URL: expected a postgres:/);
  expect(stderr).not.toMatch(/s3cretpw|^\s+at /m);
  expect(code).toBe(1);
});

test.each([{}, { REDIS_URL: 'redis://:hunter2@127.0.0.1:1' }])(
  'an agent that is given the database, beside %j',
  async (env) => {
    const args = ['agent', '--data', join(up.dataDir, 'agent-on-database')];
    const { code, stderr } = await platen(args, {
      ...env,
      DATABASE_URL: 'postgres://lab:s3cretpw@127.0.0.1:1/x',
    });
    expect(stderr).toMatch(/An agent is never on PostgreSQL.*take DATABASE_URL out of its environment/);
    expect(stderr).not.toMatch(/s3cretpw|^\s+at /m);
    expect(code).toBe(2);
  },
);

test.each([
  [['--field', 'sku=A'], /Say where: --printer or --printer-id/],
  [['--printer', 'virtual-1', '--field', 'sku=A', '--field', 'sku=B'], /field sku is given twice/],
])('a label is not printed by guess: print %j', async (args, says) => {
  const { code, stdout, stderr } = await platen(['print', 'any', ...args, '--data', up.dataDir]);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(says);
});

test('a port that is taken', async () => {
  const port = new URL(up.url).port;
  const data = join(up.dataDir, 'taken-port');
  const { code, stderr } = await platen(['server', '--port', port, '--data', data]);
  expect(stderr).toContain(`cannot listen on port ${port}`);
  expect(code).toBe(1);
});

test.runIf(nobodyCanRun)('"up" works for an ordinary user too', async () => {
  const { uid = 0, gid = 0 } = nobody ?? {};
  const dataDir = await mkdtemp(join(tmpdir(), 'platen-user-'));
  await chown(dataDir, uid, gid);
  const own = await PlatenUp.start({ dataDir, uid, env: { HOME: dataDir } });
  try {
    expect(await readdir(dataDir)).toContain('service.json');
    expect(await own.admin.printers()).toHaveLength(1);
  } finally {
    expect(await own.stop()).toBe(0);
    await rm(dataDir, { recursive: true, force: true });
  }
});
