/** The direction of imports that the architecture rests on, checked over every source file. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

/** The part of the system that a file belongs to. */
function partOf(file: string): string {
  const [top, second] = file.split(sep);
  if (top === 'drivers') return 'drivers';
  return second === undefined || second.endsWith('.ts') ? (second ?? '') : second;
}

/** What each part may import, besides itself. Everything may import the log. */
const ALLOWED: Record<string, string[]> = {
  'main.ts': ['cli'],
  'agent-main.ts': ['cli'],
  cli: ['server', 'agent', 'virtual', 'queue', 'rendering', 'render', 'zpl', 'values', 'drivers', 'contract'],
  server: ['queue', 'rendering', 'render', 'zpl', 'values', 'drivers', 'contract'],
  agent: ['queue', 'rendering', 'render', 'drivers', 'contract'],
  // The threads that labels are made and checked in, for agent and service.
  rendering: ['render', 'zpl', 'values', 'drivers', 'contract'],
  // The drivers' codecs and the interpreter of ZPL: a virtual printer speaks the same from the other end.
  virtual: ['render', 'zpl', 'drivers', 'contract'],
  queue: ['contract'],
  drivers: ['render', 'zpl', 'contract'],
  render: ['zpl', 'values', 'contract'],
  // The renderer knows ZPL, ZPL knows no renderer: the interpreter is lent what draws symbols.
  zpl: ['values', 'contract'],
  values: ['contract'],
  contract: [],
  'log.ts': [],
};

const files = globSync(['src/**/*.ts', 'drivers/**/*.ts'], { cwd: root });
const imports = files.flatMap((file) => {
  const source = readFileSync(join(root, file), 'utf8');
  const specifiers = [...source.matchAll(/(?:from|import\(|import|new URL\()\s*'([^']+)'/g)].map(
    (match) => match[1] ?? '',
  );
  return specifiers.map((specifier) => ({ file, specifier }));
});

test('imports run one way', () => {
  const wrong = imports
    .filter(({ specifier }) => specifier.startsWith('.') && specifier.endsWith('.ts'))
    .map(({ file, specifier }) => ({ file, target: normalize(join(dirname(file), specifier)) }))
    .filter(({ file, target }) => {
      const [from, to] = [partOf(file), partOf(target)];
      return from !== to && to !== 'log.ts' && !(ALLOWED[from] ?? []).includes(to);
    })
    .map(({ file, target }) => `${file} imports ${target}`);
  expect(imports.length).toBeGreaterThan(100);
  expect(wrong).toEqual([]);
});

test('only src/queue imports bullmq', () => {
  const users = imports.filter(({ specifier }) => specifier === 'bullmq').map(({ file }) => partOf(file));
  expect([...new Set(users)]).toEqual(['queue']);
});

/** What is loaded with a file, types and threads left out: files and packages. */
function loadedWith(entry: string): Set<string> {
  const loaded = new Set([entry]);
  for (const file of loaded) {
    if (!file.endsWith('.ts')) continue;
    const source = readFileSync(join(root, file), 'utf8');
    for (const [, specifier = ''] of source.matchAll(/^(?:import|export) (?!type )[^;']*'([^']+)';/gm)) {
      loaded.add(specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : specifier);
    }
  }
  return loaded;
}

test.each(['src/agent/agent.ts', 'src/agent/drivers.ts', 'src/server/server.ts'])(
  'the thread of %s does not load what draws',
  (entry) => {
    const loaded = loadedWith(entry);
    expect(loaded.size).toBeGreaterThan(20);
    expect(loaded).not.toContain('@napi-rs/canvas');
    expect(loaded).not.toContain('bwip-js');
  },
);
