/** What tests need is installed by the real apt, into a root of the test's own, while others hold apt's and dpkg's locks. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installMissing, onPath } from './kit/servers/debian-packages.ts';

const directory = mkdtempSync(join(tmpdir(), 'platen-apt-'));
/** How long another holds a lock, s. */
const HELD_S = 2;

function place(file: string, text: string): string {
  const path = join(directory, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** Holds a lock, as apt and dpkg do, for a while. */
async function holding(lock: string): Promise<void> {
  const program = `open(F, ">>", "${lock}") or die; my $all = pack("s s x4 q q l x4", 1, 0, 0, 0, 0);
    fcntl(F, 6, $all) or die; $| = 1; print "held"; sleep ${HELD_S};`;
  const holder = spawn('perl', ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = await once(holder.stdout, 'data', { signal: AbortSignal.timeout(10_000) });
  expect(String(said)).toBe('held');
}

describe.skipIf(process.getuid?.() !== 0 || onPath('apt-get') === undefined)('apt', () => {
  const before = process.env['APT_CONFIG'];

  beforeAll(() => {
    const repository = join(directory, 'repository');
    mkdirSync(repository);
    for (const name of ['platen-test-1', 'platen-test-2']) {
      const control = `Package: ${name}\nVersion: 1\nArchitecture: all\nMaintainer: x <x@example.com>\nDescription: x\n`;
      place(`${name}/DEBIAN/control`, control);
      place(`${name}/opt/${name}`, '');
      execFileSync('dpkg-deb', ['--build', join(directory, name), repository], { stdio: 'ignore' });
      const file = join(repository, `${name}_1_all.deb`);
      const size = execFileSync('stat', ['-c', '%s', file], { encoding: 'utf8' }).trim();
      const sum = execFileSync('sha256sum', [file], { encoding: 'utf8' }).split(' ')[0];
      const entry = `${control}Filename: ./${name}_1_all.deb\nSize: ${size}\nSHA256: ${sum}\n\n`;
      writeFileSync(join(repository, 'Packages'), entry, { flag: 'a' });
    }
    for (const part of ['lists/partial', 'root/var/lib/dpkg', 'cache/archives/partial']) {
      mkdirSync(join(directory, part), { recursive: true });
    }
    const list = place('sources.list', `deb [trusted=yes] file:${repository} ./\n`);
    const settings = {
      'Dir::Etc::SourceList': list,
      'Dir::Etc::SourceParts': '/dev/null',
      'Dir::State': directory,
      'Dir::State::Lists': join(directory, 'lists'),
      'Dir::State::status': place('root/var/lib/dpkg/status', ''),
      'Dir::Cache': join(directory, 'cache'),
      'APT::Sandbox::User': 'root',
      'DPkg::Options::': `--root=${join(directory, 'root')}`,
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} "${value}";\n`);
    process.env['APT_CONFIG'] = place('apt.conf', lines.join(''));
  });

  afterAll(() => {
    if (before === undefined) delete process.env['APT_CONFIG'];
    else process.env['APT_CONFIG'] = before;
    rmSync(directory, { recursive: true, force: true });
  });

  // The first needs package lists as well, which are not there yet.
  test.each([
    ['platen-test-1', 'lists/lock'],
    ['platen-test-2', 'root/var/lib/dpkg/lock-frontend'],
  ])('%s is installed while another holds %s', async (name, lock) => {
    const file = join(directory, 'root/opt', name);
    await holding(join(directory, lock));
    const began = performance.now();
    installMissing({ [name]: [file] });
    expect(existsSync(file)).toBe(true);
    expect(performance.now() - began).toBeGreaterThan((HELD_S - 1) * 1_000);
  });
});
