/** Faults that a person asks of virtual printers while they run, as the commands that he types. */
import { existsSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { PlatenUp, platen } from '../kit/service/platen.ts';
import { RunningPrograms } from '../kit/service/running.ts';
import { useDirectory } from '../kit/service/use-directory.ts';

const TEMPLATE = {
  name: 'plain',
  width: 50,
  height: 25,
  elements: [{ type: 'text', x: 4, y: 4, width: 40, height: 8, size: 5, text: 'plain' }],
};
const shown = z.object({ name: z.string(), faults: z.array(z.string()), printed: z.int() });

const directory = useDirectory();
const programs = new RunningPrograms();
afterEach(() => programs.end());

async function done(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await platen(args);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

async function refused(...args: string[]): Promise<[code: number, why: string]> {
  const { code, stderr } = await platen(args);
  return [code, stderr];
}

test('with "up": a job waits for what is missing, says so, and goes on', async () => {
  const dataDir = join(directory.path, 'data');
  const up = await PlatenUp.start({ dataDir, args: ['--virtual', '1', '--virtual-ipp', '1'] });
  onTestFinished(async () => void (await up.stop()));
  const { id: idT } = await up.admin.importTemplate('default', TEMPLATE);
  for (const printer of ['virtual-1', 'virtual-ipp-1']) {
    const fault = (...words: string[]) => done('virtual', 'fault', printer, ...words, '--data', dataDir);
    const reasons = (job: string) =>
      expect.poll(async () => (await up.admin.job(job)).reasons, { timeout: 60_000 });
    expect(await fault('media-empty', 'slow=200')).toBe(`${printer}: media-empty, slow=200\n`);
    const job = await up.admin.print('default', { idT, printer, numberCopies: 2 });
    await reasons(job).toContain('media-empty');
    expect(await fault('clear=media-empty', 'cover-open')).toBe(`${printer}: cover-open, slow=200\n`);
    await reasons(job).toContain('cover-open');
    expect(await up.admin.job(job)).toMatchObject({ status: 'printing', labels: { printed: 0 } });
    expect(await fault('clear')).toBe(`${printer}: no fault\n`);
    expect(await up.ended(job)).toMatchObject({ status: 'printed' });

    await fault('power-off');
    const later = await up.admin.print('default', { idT, printer });
    await reasons(later).toContain('offline');
    await fault('clear=power-off');
    expect(await up.ended(later)).toMatchObject({ status: 'printed' });
  }
  const status = z
    .array(shown)
    .parse(JSON.parse(await done('virtual', 'status', '--data', dataDir, '--json')));
  expect(status).toMatchObject([
    { name: 'virtual-1', faults: [], printed: 3 },
    { name: 'virtual-ipp-1', faults: [], printed: 3 },
  ]);
  // As the launcher of a package says where its service keeps its state.
  const usual = await platen(['virtual', 'status'], { PLATEN_DATA: dataDir });
  expect(usual.stdout, usual.stderr).toMatch(/^virtual-1 +none +0 +3 /m);
  expect(await refused('virtual', 'fault', 'virtul-1', 'silent', '--data', dataDir)).toEqual([
    1,
    expect.stringContaining('did you mean virtual-1?'),
  ]);
});

test('with "virtual": from its start, and after one that was killed', async () => {
  const out = join(directory.path, 'labels');
  const start = (...more: string[]) =>
    programs.start(['virtual', '--name', 'bench', '--port', '0', '--out', out, ...more]);
  const first = start('--fault', 'media-empty', '--fault', 'slow=10');
  await first.until(() => first.said().includes('listens at'));
  const status = await done('virtual', 'status', '--out', out);
  expect(status.split('\n')[1]).toMatch(/^bench +media-empty, slow=10 +0 +0 +socket:\/\/127\.0\.0\.1:\d+$/);
  const socket = join(out, 'virtual.sock');
  if (process.platform !== 'win32') expect(statSync(socket).mode & 0o777).toBe(0o600);
  await first.end('SIGKILL');
  expect(await refused('virtual', 'status', '--out', out)).toEqual([
    1,
    expect.stringContaining(`No virtual printer runs in ${out}`),
  ]);

  const next = start('--ipp', '--fault', 'power-off');
  await next.until(() => next.said().includes('listens at'));
  const changed = await done('virtual', 'fault', 'bench', 'clear', 'silent', '--out', out, '--json');
  expect(shown.parse(JSON.parse(changed))).toMatchObject({ name: 'bench', faults: ['silent'] });
  await programs.end();
  expect(existsSync(socket)).toBe(false);
});

test('what asks for no fault is refused before anything is asked, with the word that was meant', async () => {
  const wrong = async (word: string) => {
    const [code, why] = await refused('virtual', 'fault', 'x', word, '--out', directory.path);
    expect(code).toBe(2);
    return why;
  };
  expect(await wrong('paper-out')).toContain('did you mean media-empty?');
  expect(await wrong('slow')).toContain('as in slow=500');
  expect((await refused('virtual', '--fault', 'clear=cover-opn'))[1]).toContain(
    'did you mean clear=cover-open?',
  );
  const file = join(directory.path, 'no-directory');
  await writeFile(file, '');
  expect((await refused('virtual', 'status', '--data', file))[0]).toBe(1);
});
