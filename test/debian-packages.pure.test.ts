/** The list of Debian's packages that tests need: whole, and installed in one place, before there are workers. */
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { NEEDED_BY } from './kit/servers/debian-packages.ts';

const root = join(import.meta.dirname, '..');
const LIST = 'test/kit/servers/debian-packages.ts';
const sources = new Map(
  globSync(['{test,bench,service}/**/*.ts'], { cwd: root, exclude: ['test/generated-client/**'] })
    .filter((file) => file !== LIST && !file.startsWith('test/debian-packages.'))
    .map((file) => [file, readFileSync(join(root, file), 'utf8')]),
);
/** How sources start a program of this machine: `machine.run` is about another machine, `wine.run` about Windows. */
const STARTED =
  /(?<!machine\.|wine\.|\bwith)\b(?:spawn|spawnSync|execFile|execFileSync|run|programs\.start|start)\(\s*'([\w./-]+)',\s*(?:\[|args\b)/g;

/** On every Debian, and with git and npm: `openssl` is not. */
const EVERYWHERE = (
  'bash chown cp find flock git id kill ls mkdir mkfifo mount mv node npm nsenter readlink rm sh sync tar touch ' +
  'umount unshare dpkg-deb systemctl'
).split(' ');

function startedIn(source: string): string[] {
  return [...source.matchAll(STARTED)].map((match) => match[1] ?? '');
}

test('no other file installs packages, and no test file asks for it', () => {
  expect(sources.size).toBeGreaterThan(300);
  const installing = [...sources].filter(([, source]) =>
    startedIn(source).some((program) => /^(apt|apt-get|aptitude|dpkg)$/.test(basename(program))),
  );
  expect(installing.map(([file]) => file)).toEqual([]);
  const asking = [...sources].filter(([, source]) => source.includes('installMissing'));
  const withinTests = asking.map(([file]) => file).filter((file) => file.startsWith('test/'));
  expect(withinTests.sort()).toEqual(['test/chaos/chaos.ts', 'test/kit/servers/set-up.ts']);
});

/** A test file, and what it imports of the tests. */
function loadedWith(entry: string): Set<string> {
  const loaded = new Set([entry]);
  for (const file of loaded) {
    const imported = (sources.get(file) ?? '').matchAll(/^(?:import|export) (?!type )[^;']*'(\.[^']+)';/gm);
    for (const [, specifier = ''] of imported) {
      const path = normalize(join(dirname(file), specifier));
      if (sources.has(path)) loaded.add(path);
    }
  }
  return loaded;
}

test.each([
  ['servers', /(?<!\.pure|\.long)\.test\.ts$/],
  ['long', /\.long\.test\.ts$/],
])(
  'every program that tests of the project %s start is on its list, or on every machine',
  (project, names) => {
    const files = [...sources.keys()].filter((file) => names.test(file));
    expect(files.length).toBeGreaterThan(40);
    const listed = Object.values(NEEDED_BY[project] ?? {}).flat();
    const known = new Set([...EVERYWHERE, ...listed.map((part) => basename(part))]);
    const loaded = new Set(
      [...files, 'test/kit/servers/start-servers.ts'].flatMap((file) => [...loadedWith(file)]),
    );
    const started = [...loaded].flatMap((file) =>
      startedIn(sources.get(file) ?? '').map((program) => ({ file, program: basename(program) })),
    );
    expect(started.map(({ program }) => program)).toContain('redis-server');
    expect(started.filter(({ program }) => program !== 'platen' && !known.has(program))).toEqual([]);
  },
);
