/** The scripts that dpkg runs, where something else than systemd has started the service. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { maintainerScripts } from '../../service/linux/scripts.ts';

test('a package whose program runs without systemd is not taken away from under it', async () => {
  const home = mkdtempSync(join(tmpdir(), 'platen-home-'));
  mkdirSync(join(home, '0.1.0/bin'), { recursive: true });
  symlinkSync('0.1.0', join(home, 'current'));
  const node = join(home, '0.1.0/bin/node');
  // A program that waits, for one that prints.
  copyFileSync(realpathSync('/bin/sh'), node);
  const { prerm = '' } = maintainerScripts({ unit: 'platen', config: 'platen.json' });
  const script = prerm.replaceAll('/usr/lib/platen', home).replaceAll('/run/systemd', join(home, 'none'));
  const removed = () => spawnSync('sh', ['-c', script, 'prerm', 'remove'], { encoding: 'utf8' });
  const waiting = (command: string) =>
    spawn(node, ['-c', 'echo runs; read line', join(home, '0.1.0/app/platen.js'), command, '--data', 'x'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
  const [list, service] = [waiting('jobs'), waiting('up')];
  try {
    await Promise.all([list, service].map(({ stdout }) => once(stdout, 'data')));
    const { status, stderr } = removed();
    expect(status).toBe(1);
    expect(stderr).toContain(`process ${service.pid} runs it`);
    service.stdin.end();
    await once(service, 'exit');
    // A command that ends by itself is in nobody's way.
    expect(removed()).toMatchObject({ status: 0, stderr: '' });
  } finally {
    for (const child of [list, service]) child.kill('SIGKILL');
  }
});
