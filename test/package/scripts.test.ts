/** The scripts that dpkg runs, where something else than the package's own service is there. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { maintainerScripts } from '../../service/linux/scripts.ts';
import { unitText } from '../../src/cli/linux-service/unit.ts';
import { STATE } from '../../src/contract/own-user.ts';

/** A script of the package `platen`, with these directories in place of the machine's. */
function scriptOf(name: 'prerm' | 'postrm', places: Readonly<Record<string, string>>) {
  const text = maintainerScripts({ unit: 'platen', config: 'platen.json' })[name] ?? '';
  const script = Object.entries(places).reduce((all, [place, own]) => all.replaceAll(place, own), text);
  return (action: string) => spawnSync('sh', ['-c', script, name, action], { encoding: 'utf8' });
}

test('a package whose program runs without systemd is not taken away from under it', async () => {
  const home = mkdtempSync(join(tmpdir(), 'platen-home-'));
  mkdirSync(join(home, '0.1.0/bin'), { recursive: true });
  symlinkSync('0.1.0', join(home, 'current'));
  const node = join(home, '0.1.0/bin/node');
  // A program that waits, for one that prints.
  copyFileSync(realpathSync('/bin/sh'), node);
  const prerm = scriptOf('prerm', { '/usr/lib/platen': home, '/run/systemd': join(home, 'none') });
  const waiting = (command: string) =>
    spawn(node, ['-c', 'echo runs; read line', join(home, '0.1.0/app/platen.js'), command, '--data', 'x'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
  const [list, ...services] = [waiting('jobs'), waiting('up'), waiting('watch'), waiting('virtual')];
  onTestFinished(() => {
    for (const child of [list, ...services]) child.kill('SIGKILL');
  });
  await Promise.all([list, ...services].map(({ stdout }) => once(stdout, 'data')));
  for (const service of services) {
    const { status, stderr } = prerm('remove');
    expect(status).toBe(1);
    expect(stderr).toMatch(/process \d+ runs it/);
    service.stdin.end();
    await once(service, 'exit');
  }
  // A command that ends by itself is in nobody's way.
  expect(prerm('remove')).toMatchObject({ status: 0, stderr: '' });
});

test('a purge takes the state of no service that runs on it, or is installed for it otherwise', async () => {
  const top = mkdtempSync(join(tmpdir(), 'platen-purged-'));
  const [state, units] = [join(top, 'state'), join(top, 'units')];
  const [journal, unit] = [join(state, 'agent.db'), join(units, 'platen.service')];
  mkdirSync(state);
  mkdirSync(units);
  writeFileSync(journal, '');
  const places = { [STATE]: state, '/etc/systemd/system': units, '/etc/platen': join(top, 'etc') };
  const none = {
    '/run/systemd': join(top, 'none'),
    '/usr/bin/platen': join(top, 'no-platen'),
    'deb-systemd-helper': 'none',
  };
  const postrm = scriptOf('postrm', { ...places, ...none });

  const service = spawn('sh', ['-c', `exec 3<${journal}; echo runs; read line`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void service.kill('SIGKILL'));
  await once(service.stdout, 'data');
  const refused = postrm('purge');
  expect(refused.status).toBe(1);
  expect(refused.stderr).toContain(`process ${service.pid} has files open in ${state}`);
  service.stdin.end();
  await once(service, 'exit');

  // As `platen service install` makes it, for a program that apt has not brought.
  writeFileSync(
    unit,
    unitText({ description: 'x', command: '/opt/platen/current/bin/platen up' }).replaceAll(STATE, state),
  );
  expect(postrm('purge')).toMatchObject({ status: 0, stdout: expect.stringContaining(`${unit} runs on it`) });
  expect(existsSync(journal)).toBe(true);

  rmSync(unit);
  expect(postrm('purge')).toMatchObject({ status: 0, stderr: '' });
  expect(existsSync(state)).toBe(false);
});
