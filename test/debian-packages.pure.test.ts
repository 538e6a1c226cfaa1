/** The list of Debian's packages that tests need: whole, and installed in one place, before there are workers. */
import { expect, test } from 'vitest';
import { NEEDED_BY, programsIn } from './kit/servers/debian-packages.ts';
import { filesThatNeed, loadedWith, sources, startedIn } from './kit/servers/what-files-need.ts';

/** On every Debian, and with git and npm: `openssl` is not. */
const EVERYWHERE = (
  'bash chown cp find flock git id kill ls mkdir mkfifo mount mv node npm nsenter readlink rm script sh sync tar touch ' +
  'umount unshare dpkg-deb systemctl'
).split(' ');

test('no other file installs packages, and no test file asks for it', () => {
  expect(sources.size).toBeGreaterThan(300);
  const installing = [...sources].filter(([, source]) =>
    startedIn(source).some((program) => /^(apt|apt-get|aptitude|dpkg)$/.test(program)),
  );
  expect(installing.map(([file]) => file)).toEqual([]);
  const asking = [...sources].filter(([, source]) => source.includes('installMissing'));
  const withinTests = asking.map(([file]) => file).filter((file) => file.startsWith('test/'));
  expect(withinTests.sort()).toEqual([
    'test/chaos/chaos.ts',
    'test/chaos/many-sites.ts',
    'test/kit/servers/set-up.ts',
  ]);
});

test.each([
  ['servers', /(?<!\.pure|\.long)\.test\.ts$/],
  ['long', /\.(long|backends)\.test\.ts$/],
])(
  'every program that tests of the project %s start is on its list, or on every machine',
  (project, names) => {
    const files = [...sources.keys()].filter((file) => names.test(file));
    expect(files.length).toBeGreaterThan(40);
    const known = new Set([...EVERYWHERE, ...programsIn(NEEDED_BY[project] ?? {})]);
    const loaded = new Set(
      [...files, 'test/kit/servers/start-servers.ts'].flatMap((file) => [...loadedWith(file)]),
    );
    const started = [...loaded].flatMap((file) =>
      startedIn(sources.get(file) ?? '').map((program) => ({ file, program })),
    );
    expect(started.map(({ program }) => program)).toContain('redis-server');
    expect(started.filter(({ program }) => program !== 'platen' && !known.has(program))).toEqual([]);
  },
);

test('which files need a program is told from what they import', () => {
  const strace = filesThatNeed({ strace: ['strace'] });
  expect(strace).toContain('test/agent/journal-sync.long.test.ts');
  expect(strace.length).toBeLessThan(5);
  expect(filesThatNeed({ chromium: ['chromium'] })).toContain('test/web/road.test.ts');
});
