/** A service without an agent, and an agent without a printer, say so. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { PlatenUp, platen } from '../kit/service/platen.ts';
import { RunningPrograms } from '../kit/service/running.ts';
import { useDirectory } from '../kit/service/use-directory.ts';

const programs = new RunningPrograms();
const directory = useDirectory();
afterAll(() => programs.end());

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const signal = AbortSignal.timeout(60_000);
  while (!(await condition())) await pause(50, undefined, { signal });
}

test('a service that no agent reports to', async () => {
  const data = join(directory.path, 'service');
  const server = programs.start(['server', '--port', '0', '--data', data]);
  await until(() => server.said().includes('platen is ready'));
  for (const command of ['agents', 'printers']) {
    const { code, stdout } = await platen([command, '--data', data]);
    expect(code).toBe(0);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('No agent has ever reported to this service.');
  }
});

test('an agent that has no printer', async () => {
  const up = await PlatenUp.start({ dataDir: join(directory.path, 'up'), args: ['--virtual', '0'] });
  onTestFinished(async () => void (await up.stop()));
  const agents = async () => (await up.admin.agents()).filter(({ online }) => online);
  const deadline = Date.now() + 30_000;
  while ((await agents()).length === 0 && Date.now() < deadline)
    await new Promise((next) => setTimeout(next, 50));
  const { stdout } = await platen(['printers', '--data', up.dataDir]);
  expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(/No printer was found by \S+, and none is configured/);
  expect(up.output).toContain('no printer: none is configured');
  expect(await up.stop()).toBe(0);
});

test('a virtual printer that people call otherwise does not keep the others waiting', async () => {
  const options = { dataDir: join(directory.path, 'renamed'), args: ['--virtual', '1'] };
  const up = await PlatenUp.start(options);
  onTestFinished(async () => void (await up.stop()));
  const at = ['--data', options.dataDir];
  expect(await platen(['printer', 'rename', 'virtual-1', 'Dock 3', ...at])).toMatchObject({ code: 0 });
  expect(await up.stop()).toBe(0);
  const again = await PlatenUp.start(options);
  onTestFinished(async () => void (await again.stop()));
  expect((await again.admin.printers()).map(({ name }) => name)).toEqual(['Dock 3']);
  expect(await again.stop()).toBe(0);
});
