/** The threads in which a service looks at what strangers send. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { pageRecords } from '../../src/contract/document-pages.ts';
import { rawZplTemplate, type Template, template } from '../../src/contract/template.ts';
import { createLogger } from '../../src/log.ts';
import { CheckPool, CheckStopped } from '../../src/rendering/check-pool.ts';
import type { CheckAnswer, CheckRequest } from '../../src/rendering/check-protocol.ts';
import { startThread } from '../../src/rendering/thread.ts';
import { pdfOf } from '../kit/documents/pdf.ts';
import { design } from '../kit/judges/judges.ts';

const TIMES = { wait: 60_000, run: 60_000 };
/** Some ten milliseconds for each element. */
const HEAVY = { type: 'image', x: 0, y: 0, width: 100, height: 100, halftone: 'dither' };
const PICTURE = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0L9 9H0z"/></svg>',
).toString('base64');
const LIGHT = design(50, 25, [{ type: 'text', x: 2, y: 2, width: 40, size: 4, text: '{{v}}' }]);

let pool: CheckPool | undefined;
function start(threads: number): CheckPool {
  const started = new CheckPool({ threads, logger: createLogger({ level: 'silent' }) });
  started.start();
  pool = started;
  return started;
}
afterEach(() => pool?.stop());

function heavy(elements: number): Template {
  return {
    ...design(
      500,
      500,
      Array.from({ length: elements }, () => ({ ...HEAVY, data: PICTURE })),
    ),
    dpi: 203,
  };
}

const checkOf = (template: Template) => ({ kind: 'template' as const, template });
const records = (template: Template, values: object[], more = {}) => ({
  kind: 'records' as const,
  template,
  dpi: 203,
  language: 'zpl' as const,
  orientation: 'portrait' as const,
  media: { width: 100, height: 150 },
  job: { createdAt: '2026-11-22T08:00:00.000Z', copies: 1, records: values },
  records: values.map((value) => ({ ...value })),
  first: 0,
  budget: 1_000,
  ...more,
});

test('a template that takes too long is ended, and the element named; the next has a thread again', async () => {
  const checks = start(2);
  await checks.run('a', checkOf(LIGHT), TIMES);
  const ended = await checks.run('a', checkOf(heavy(1_000)), { ...TIMES, run: 1_500 }).catch((e) => e);
  expect(ended).toBeInstanceOf(CheckStopped);
  expect(ended).toMatchObject({ reason: 'deadline', at: expect.stringMatching(/^\/elements\/\d+$/) });
  expect(await checks.run('a', checkOf(LIGHT), TIMES)).toEqual([
    expect.objectContaining({ code: 'field-undeclared' }),
  ]);
});

test('the slow checks of one owner leave a thread to the others', async () => {
  const checks = start(2);
  const done: string[] = [];
  const slow = Array.from({ length: 4 }, (_, index) =>
    checks.run('slow', checkOf(heavy(10)), TIMES).then(() => done.push(`slow ${index}`)),
  );
  for (const owner of ['b', 'c', 'd']) {
    await checks.run(owner, records(LIGHT, [{ v: 'x' }]), TIMES);
    done.push(owner);
  }
  await Promise.all(slow);
  // While its first ones are drawn, the others have come and gone.
  expect(done.indexOf('d')).toBeLessThan(done.indexOf('slow 2'));
  expect(done.filter((one) => one.startsWith('slow'))).toHaveLength(4);
});

test('what waits for too long, or behind too much, is told so', async () => {
  const checks = start(2);
  const first = checks.run('a', checkOf(heavy(20)), TIMES);
  const late = checks.run('a', checkOf(LIGHT), { wait: 50, run: 1_000 });
  await expect(late).rejects.toMatchObject({ reason: 'busy' });
  const many = Array.from({ length: 1_001 }, () =>
    checks.run('a', checkOf(LIGHT), TIMES).catch((error: unknown) => error),
  );
  expect(await many.at(-1)).toMatchObject({ reason: 'busy' });
  await first;
  expect((await Promise.all(many)).filter((one) => one instanceof CheckStopped)).toHaveLength(1);
});

test('records: each that cannot be printed, with its number in the job and its field', async () => {
  const checks = start(2);
  const ean = { type: 'barcode', symbology: 'ean13', x: 1, y: 1, height: 8, value: '{{ean}}' };
  const filtered = { type: 'text', x: 1, y: 14, width: 40, size: 3, text: '{{who}} {{price | number:2}}' };
  const template = design(50, 25, [ean, filtered]);
  const good = { ean: '4006381333931', price: '1.5', who: 'x' };
  const values = [
    good,
    { ...good, ean: '40063813339AB' },
    { ...good, price: 'ten' },
    { ...good, who: '\u{13000}' },
  ];
  const verdict = await checks.run('a', records(template, values, { first: 500, budget: 60_000 }), TIMES);
  expect(verdict.complete).toBe(true);
  expect(verdict.faults).toEqual([
    expect.objectContaining({ code: 'value-invalid', record: 501, fields: ['ean'] }),
    expect.objectContaining({ code: 'value-invalid', record: 502, fields: ['price'] }),
    expect.objectContaining({ code: 'value-invalid', record: 503, fields: ['who', 'price'] }),
  ]);
  expect(verdict.faults[0]?.message).toContain('record 502');
});

test('what another thread works for PDF pages counts in the budget', async () => {
  const checks = start(2);
  const content = '0 0 9 9 re f '.repeat(2_000);
  const pages = 40;
  const file = pdfOf(Array.from({ length: pages }, () => ({ width: 200, height: 300, content })));
  const carrier = template.parse({ name: 'c', language: 'document', fields: [{ name: 'document' }] });
  const values = pageRecords(
    { document: file.toString('base64') },
    carrier,
    Array.from({ length: pages }, (_, at) => at + 1),
    0,
  );
  const asked = records(carrier, values, { budget: 300 });
  expect(await checks.run('a', asked, TIMES)).toMatchObject({ faults: [], complete: false });
}, 120_000);

test('records beyond the budget are not reached, and faults beyond a hundred not told', async () => {
  const checks = start(2);
  const template = design(50, 25, [
    { type: 'barcode', symbology: 'ean13', x: 1, y: 1, height: 8, value: '{{ean}}' },
  ]);
  const bad = Array.from({ length: 300 }, () => ({ ean: 'x' }));
  const all = await checks.run('a', records(template, bad, { budget: 60_000 }), TIMES);
  expect(all).toMatchObject({ complete: false, faults: { length: 100 } });
  const one = await checks.run('a', records(template, bad, { budget: 0 }), TIMES);
  expect(one).toMatchObject({ complete: false, faults: { length: 1 } });
});

test('a template compiled before is not taken for another, or for another resolution', async () => {
  const checks = start(2);
  const box = (width: number) =>
    design(60, 25, [{ type: 'barcode', symbology: 'code128', x: 1, y: 1, height: 8, width, value: '{{v}}' }]);
  const faults = async (width: number, dpi: number) =>
    (await checks.run('a', records(box(width), [{ v: 'ABCDEF' }], { dpi }), TIMES)).faults.length;
  expect(await faults(55, 203)).toBe(0);
  expect(await faults(20, 203)).toBe(1);
  expect(await faults(55, 203)).toBe(0);
  expect(await faults(55, 300)).toBe(0);
});

test('who waits when the service stops is told', async () => {
  const checks = start(2);
  const first = checks.run('a', checkOf(heavy(100)), TIMES).catch((error: unknown) => error);
  const second = checks.run('a', checkOf(LIGHT), TIMES).catch((error: unknown) => error);
  await checks.stop();
  expect(await first).toMatchObject({ reason: 'busy' });
  expect(await second).toMatchObject({ reason: 'busy' });
  await expect(checks.run('a', checkOf(LIGHT), TIMES)).rejects.toMatchObject({ reason: 'busy' });
});

test('a service that was started behind everything else checks templates too', async () => {
  const source = (file: string) => JSON.stringify(new URL(`../../src/${file}`, import.meta.url).href);
  const program = `
    import { CheckPool } from ${source('rendering/check-pool.ts')};
    import { createLogger } from ${source('log.ts')};
    const checks = new CheckPool({ threads: 2, logger: createLogger({ level: 'silent' }) });
    const template = ${JSON.stringify(LIGHT)};
    const problems = await checks.run('a', { kind: 'template', template }, ${JSON.stringify(TIMES)});
    await checks.stop();
    process.stdout.write(String(problems.length));`;
  const directory = mkdtempSync(join(tmpdir(), 'platen-behind-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'checks.mjs');
  writeFileSync(file, program);
  const nice = ['nice', '-n', '10', process.execPath, file];
  // As a service's user has it: root may come before others again.
  const [command = '', ...words] =
    process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-sys_nice', ...nice] : nice;
  const { stdout } = await promisify(execFile)(command, words, { timeout: 90_000 });
  expect(stdout).toBe('1');
});

const MEDIA = { width: 100, height: 150 };
const rawPicture = (source: string, media = MEDIA) => ({
  kind: 'picture' as const,
  template: rawZplTemplate.parse({ name: 'Raw', language: 'zpl', source }),
  dpi: 203,
  media,
  orientation: 'portrait' as const,
  job: { createdAt: '2026-11-22T08:00:00.000Z', copies: 1, records: { length: 1 } },
  record: {},
  index: 0,
  copy: 0,
  preview: true,
});
const SMALL = rawPicture('^XA^FO9,9^GB99,99,9^FS^XZ');
test('a label for which the rasteriser has no memory is named, and the memory is given back', async () => {
  const checks = start(2);
  await checks.run('a', SMALL, TIMES);
  const before = process.memoryUsage.rss();
  const greedy = rawPicture('^XA^FO9,9^BXN,1000,200^FDabc^FS^XZ');
  const message = '/source: it cannot be drawn: it takes too much memory';
  const problem = { severity: 'warning', pointer: '/source', message };
  expect(await checks.run('a', greedy, TIMES)).toMatchObject({ png: null, problems: [problem] });
  // Every dot of it is turned round, and each reversed box takes the rasteriser a picture more.
  const source = `^XA^POI${'^FR^FO9,9^GB4000,4000,9^FS'.repeat(8)}^XZ`;
  let most = 0;
  const looking = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss() - before);
  }, 5);
  try {
    const large = await checks.run('a', rawPicture(source, { width: 530, height: 530 }), TIMES);
    expect(large).toMatchObject({ width: 4236, png: expect.anything() });
  } finally {
    clearInterval(looking);
  }
  expect(most).toBeLessThan(250 * 1024 * 1024);
  expect(await checks.run('a', SMALL, TIMES)).toMatchObject({ png: expect.anything(), problems: [] });
  // A thread that has been ended gives its memory back when the system comes to it.
  await expect.poll(() => process.memoryUsage.rss() - before).toBeLessThan(100 * 1024 * 1024);
});

test('what a thread loads before it draws does not count against its check', async () => {
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  const told: (boolean | number)[] = [];
  const checks = [{ ...SMALL, template: LIGHT }, SMALL, SMALL];
  const next = () => {
    const check = checks.shift();
    if (check === undefined) return resolve();
    const request = { id: checks.length, owner: 'a', check };
    thread.postMessage(request satisfies CheckRequest);
  };
  const thread = startThread<CheckAnswer>({
    file: new URL('../../src/rendering/check-worker.ts', import.meta.url),
    heapMb: 256,
    answered: (answer) => {
      if ('loaded' in answer) told.push(answer.loaded);
      if (!('result' in answer)) return;
      told.push(answer.id);
      next();
    },
    failed: reject,
    exited: () => reject(new Error('the thread has ended')),
  });
  onTestFinished(async () => void (await thread.terminate()));
  next();
  await ended;
  // It has loaded what checks, then for the first picture what draws, and for the first raw one the rasteriser.
  expect(told).toEqual([true, false, true, 2, false, true, 1, 0]);
});
