/** What the architecture rests on, checked over every source file: which way imports go, no circles, and short files. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative, sep } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

/** The part of the system that a file belongs to. */
function partOf(file: string): string {
  const [top, second] = file.split(sep);
  if (top === 'drivers' || top === 'web') return top;
  return second === undefined || second.endsWith('.ts') ? (second ?? '') : second;
}

/** What each part may import, besides itself. Everything may import the log. */
const ALLOWED: Record<string, string[]> = {
  'main.ts': ['cli'],
  'agent-main.ts': ['cli'],
  cli: [
    'server',
    'agent',
    'virtual',
    'queue',
    'rendering',
    'render',
    'zpl',
    'values',
    'drivers',
    'tables',
    'contract',
    'words',
  ],
  server: ['queue', 'rendering', 'render', 'zpl', 'values', 'ipp', 'drivers', 'contract', 'words'],
  agent: ['queue', 'rendering', 'render', 'drivers', 'contract', 'words'],
  // The threads that labels are made and checked in, for agent and service.
  rendering: ['render', 'zpl', 'values', 'drivers', 'contract'],
  // The drivers' codecs and the interpreter of ZPL: a virtual printer speaks the same from the other end.
  virtual: ['render', 'zpl', 'ipp', 'drivers', 'contract', 'words'],
  // What every IPP printer says and does, be it a virtual one or the service.
  ipp: ['drivers', 'contract'],
  queue: ['contract'],
  drivers: ['render', 'zpl', 'programs', 'contract'],
  render: ['zpl', 'programs', 'values', 'contract'],
  // The renderer knows ZPL, ZPL knows no renderer: the interpreter is lent what draws symbols.
  zpl: ['programs', 'values', 'contract'],
  // Labels that others have written in printers' languages; two of the languages themselves.
  programs: ['contract'],
  values: ['contract'],
  contract: ['words'],
  // What reasons say to people in English, what people have written, and what of a text nobody may read.
  words: [],
  // Tables from people's files, which the console reads in a browser and the command line on a machine.
  tables: [],
  // The console's pages run in a browser: all that they share with the service is what both of them say, and the tables.
  web: ['tables', 'contract', 'words'],
  'log.ts': ['words'],
};

const files = globSync(['src/**/*.ts', 'drivers/**/*.ts', 'web/**/*.{ts,tsx}'], {
  cwd: root,
  exclude: ['web/dist/**', 'web/dist.*/**'],
});
const imports = files.flatMap((file) => {
  const source = readFileSync(join(root, file), 'utf8');
  const specifiers = [...source.matchAll(/(?:from|import\(|import|new URL\()\s*'([^']+)'/g)].map(
    (match) => match[1] ?? '',
  );
  return specifiers.map((specifier) => ({ file, specifier }));
});

function isSource(specifier: string): boolean {
  return specifier.startsWith('.') && /\.tsx?$/.test(specifier);
}

test('imports run one way', () => {
  const wrong = imports
    .filter(({ specifier }) => isSource(specifier))
    .map(({ file, specifier }) => ({ file, target: normalize(join(dirname(file), specifier)) }))
    .filter(({ file, target }) => {
      const [from, to] = [partOf(file), partOf(target)];
      return from !== to && to !== 'log.ts' && !(ALLOWED[from] ?? []).includes(to);
    })
    .map(({ file, target }) => `${file} imports ${target}`);
  expect(imports.length).toBeGreaterThan(100);
  expect(wrong).toEqual([]);
});

test('the queue has one way in', () => {
  const around = imports
    .filter(({ file, specifier }) => isSource(specifier) && partOf(file) !== 'queue')
    .map(({ file, specifier }) => ({ file, target: normalize(join(dirname(file), specifier)) }))
    .filter(({ target }) => partOf(target) === 'queue' && target !== join('src', 'queue', 'index.ts'));
  expect(around).toEqual([]);
});

test('no two files export a type of one name', () => {
  const exporters = new Map<string, string[]>();
  for (const file of files.filter((one) => partOf(one) !== 'web')) {
    const source = readFileSync(join(root, file), 'utf8');
    for (const [, name = ''] of source.matchAll(/^export (?:abstract )?(?:class|interface|type) (\w+)/gm))
      exporters.set(name, [...(exporters.get(name) ?? []), file]);
  }
  expect(exporters.size).toBeGreaterThan(400);
  expect([...exporters].filter(([, of]) => of.length > 1)).toEqual([]);
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

/** Every source file of this checkout, the tests' and the benches' too. */
const all = globSync(['{src,drivers,test,bench,service}/**/*.ts', 'web/**/*.{ts,tsx,css}'], {
  cwd: root,
  exclude: ['test/generated-client/**', 'web/dist/**', 'web/dist.*/**'],
});

/** One idea that is longer than 400 lines, by name: a smell, not a law. */
const LONGER = ['src/agent/job/ledger.ts'];

test('no other file has more than 400 lines', () => {
  const lines = (file: string) => readFileSync(join(root, file), 'utf8').split('\n').length - 1;
  expect(all.length).toBeGreaterThan(400);
  expect(all.filter((file) => lines(file) > 400)).toEqual(LONGER);
});

test('nothing is exported that no other file imports', () => {
  /** `file name`; `file *` where it is imported whole. */
  const imported = new Set<string>();
  for (const file of all) {
    const source = readFileSync(join(root, file), 'utf8');
    const from = (specifier: string) => normalize(join(dirname(file), specifier));
    const clauses =
      /(?:import|export)\s+(?:type\s+)?(?:\w+,\s*)?(?:\{([^}]*)\}|\*(?: as \w+)?)\s+from\s+'(\.[^']+)'/g;
    for (const [, names = '*', specifier = ''] of source.matchAll(clauses))
      for (const name of names.split(','))
        imported.add(
          `${from(specifier)} ${name
            .trim()
            .replace(/^type /, '')
            .replace(/ as \w+$/, '')}`,
        );
    for (const [, specifier = ''] of source.matchAll(/import\(\s*'(\.[^']+)'/g))
      imported.add(`${from(specifier)} *`);
  }
  const kinds = 'abstract class|async function|class|const|function|interface|type';
  const exported = files.flatMap((file) =>
    [
      ...readFileSync(join(root, file), 'utf8').matchAll(new RegExp(`^export (?:${kinds})\\*? (\\w+)`, 'gm')),
    ].map(([, name = '']) => ({ file, name })),
  );
  expect(exported.length).toBeGreaterThan(1_000);
  const unused = exported.filter(
    ({ file, name }) => !imported.has(`${file} ${name}`) && !imported.has(`${file} *`),
  );
  expect(unused).toEqual([]);
});

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** What each file imports of ours; types and threads count as well. */
const graph: Graph = new Map(
  files.map((file) => [
    file,
    new Set(
      imports
        .filter((one) => one.file === file && isSource(one.specifier))
        .map(({ specifier }) => normalize(join(dirname(file), specifier))),
    ),
  ]),
);

/** The same of the folders and files of one folder: what is below each of them counts as its own. */
function withinFolder(folder: string): Graph {
  const room = (file: string) => relative(folder, file).split(sep)[0] ?? '';
  const rooms = new Map<string, Set<string>>();
  for (const [file, targets] of graph) {
    if (!file.startsWith(folder + sep)) continue;
    const reached = rooms.get(room(file)) ?? new Set();
    rooms.set(room(file), reached);
    for (const target of targets) if (target.startsWith(folder + sep)) reached.add(room(target));
  }
  // A folder's own files lie between its parts: what begins with them and what all of them share is one place.
  return new Map([...rooms].filter(([name]) => !name.endsWith('.ts')));
}

/** Those that can be reached from themselves. */
function inCircles(edges: Graph): string[] {
  const reaches = (start: string) => {
    const seen = new Set<string>();
    const next = [start];
    for (let at = next.pop(); at !== undefined; at = next.pop()) {
      for (const target of edges.get(at) ?? []) {
        if (target === start && at !== start) return true;
        if (target === start || seen.has(target)) continue;
        seen.add(target);
        next.push(target);
      }
    }
    return false;
  };
  return [...edges.keys()].filter(reaches).sort();
}

test('no files import each other in a circle', () => {
  expect(graph.size).toBeGreaterThan(100);
  expect(inCircles(graph)).toEqual([]);
});

test('no folders that stand side by side import each other in a circle', () => {
  const folders = new Set(files.flatMap(foldersOf));
  expect(folders.size).toBeGreaterThan(20);
  const circles = [...folders].flatMap((folder) =>
    inCircles(withinFolder(folder)).map((name) => join(folder, name)),
  );
  expect(circles.sort()).toEqual([]);
});

/** The folder of a file, and those around it. */
function foldersOf(file: string): string[] {
  const folder = dirname(file);
  return folder === '.' ? [] : [folder, ...foldersOf(folder)];
}

test('every file and folder that docs/architecture.md names is there', () => {
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
  const named = [...page.matchAll(/`([\w./-]+(?:\.tsx?|\.sql|\/))`/g)].map(([, name = '']) => name);
  const there = globSync('{src,drivers,web,test,service,bench,clients}/**', {
    cwd: root,
    exclude: ['web/dist*/**'],
  });
  expect(named.length).toBeGreaterThan(100);
  const missing = named.filter((name) => {
    const path = name.replace(/^\.\//, '').replace(/\/$/, '');
    return !there.some((one) => one === path || one.endsWith(sep + path));
  });
  expect(missing).toEqual([]);
});
