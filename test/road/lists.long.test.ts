/** What people see in lists, and what they may type of it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { widthOf } from '../../src/cli/text-width.ts';
import { PlatenUp, platen } from '../kit/service/platen.ts';
import { useDirectory } from '../kit/service/use-directory.ts';

const TEMPLATE = {
  name: 'Shelf label for the cold store with a name that goes on and on',
  width: 50,
  height: 25,
  elements: [{ type: 'text', x: 2, y: 2, text: 'x', size: 4 }],
};
const OTHER = { ...TEMPLATE, name: '冷凍食品' };

const directory = useDirectory();
let up: PlatenUp;
let jobs: string[];
beforeAll(async () => {
  const dataDir = join(directory.path, 'data');
  up = await PlatenUp.start({ dataDir, args: ['--virtual', '2', '--virtual-speed', '100'] });
  jobs = [];
  for (const [place, template] of [TEMPLATE, OTHER].entries()) {
    const file = join(directory.path, 'template.json');
    await writeFile(file, JSON.stringify(template));
    await run('template', 'import', file);
    jobs.push((await run('print', template.name, '--printer', `virtual-${place + 1}`, '--wait')).trim());
  }
});
afterAll(() => up?.stop());

async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await platen([...args, '--data', up.dataDir], { TZ: 'Asia/Kolkata' });
  expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
  return stdout;
}
const view = z.object({ id: z.string(), createdAt: z.string() });
const listed = async (...args: string[]) =>
  z
    .array(view)
    .parse(JSON.parse(await run('jobs', ...args, '--json')))
    .map(({ id }) => id);

test.each(['jobs', 'printers', 'template list', 'tenant list', 'integration list'])(
  '%s fits 100 columns',
  async (command) => {
    const lines = (await run(...command.split(' '))).split('\n');
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expect(widthOf(line), line).toBeLessThanOrEqual(100);
  },
);

test('what a list shows of an ID is enough to name it', async () => {
  const [shown = ''] = (await run('jobs')).split('\n')[2]?.split(' ') ?? [];
  expect(jobs[0]?.startsWith(shown)).toBe(true);
  expect(await run('job', 'show', shown)).toContain(jobs[0]);
  expect(await run('job', 'show', jobs[1]?.toUpperCase() ?? '')).toContain(jobs[1]);
  const [printer = ''] = (await run('printers')).split('\n')[1]?.split(' ') ?? [];
  await run('print', OTHER.name, '--printer-id', printer, '--wait');
  const several = await platen(['job', 'show', (jobs[0] ?? '').slice(0, 4), '--data', up.dataDir]);
  expect([several.code, several.stderr]).toEqual([1, expect.stringContaining('several jobs begin')]);
  expect(several.stderr).toContain(jobs[0]);
  const one = await platen(['job', 'show', '0', '--data', up.dataDir]);
  expect([one.code, one.stderr]).toEqual([1, expect.stringContaining('several jobs begin with 0')]);
  const none = await platen(['job', 'cancel', 'ffffffff', '--data', up.dataDir]);
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('job-not-found')]);
});

test('jobs by printer, template, time and status', async () => {
  const [first = '', second = ''] = jobs;
  expect(await listed('--printer', 'virtual-1', '--template', TEMPLATE.name)).toEqual([first]);
  expect(await listed('--printer', 'virtual-1', '--template', OTHER.name, '--status', 'failed')).toEqual([]);
  const both = z.array(view).parse(JSON.parse(await run('jobs', '--json')));
  const [at] = both.filter(({ id }) => id === second).map(({ createdAt }) => createdAt);
  expect(await listed('--until', at ?? '')).toEqual([first]);
  expect(await listed('--since', at ?? '')).not.toContain(first);
  expect(await listed('--since', '2h')).toEqual(expect.arrayContaining(jobs));
  expect(await listed('--since', '2000-01-01', '--until', '2000-01-02 12:00')).toEqual([]);
  for (const wrong of ['yesterday', '2h30', '2026-13-40', '99999999d']) {
    const { code, stderr } = await platen(['jobs', '--since', wrong, '--data', up.dataDir]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('expected how long ago')]);
  }
});

test('times are this machine’s for people, and UTC for programs', async () => {
  const both = z.array(view).parse(JSON.parse(await run('jobs', '--json')));
  const { createdAt } = both.find(({ id }) => id === jobs[0]) ?? expect.fail();
  expect(createdAt).toMatch(/Z$/);
  const there = new Date(Date.parse(createdAt) + 5.5 * 3_600_000).toISOString();
  expect(await run('jobs')).toContain(there.slice(0, 19).replace('T', ' '));
});
