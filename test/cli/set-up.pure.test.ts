/** The set-up, on machines whose Node and npm are older than Platen's. */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';

const NODE = `node-${process.platform}-${process.arch}`;
const isWindows = process.platform === 'win32';

/** A checkout with the set-up alone, whose console says which Node it is built on. @param node the version that is locked */
function checkoutWith(node: string): { root: string; lock: string } {
  const root = mkdtempSync(join(tmpdir(), 'platen set-up '));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const lock = JSON.stringify({ packages: { [`node_modules/${NODE}`]: { version: node } } });
  writeFileSync(join(root, 'package-lock.json'), lock);
  for (const file of ['setup.cjs', 'as-node.cjs'])
    cpSync(join(import.meta.dirname, '../../service', file), join(root, 'service', file));
  writeFileSync(join(root, 'service/console.ts'), 'const built: string = process.argv0; console.log(built);');
  return { root, lock };
}

function setUp(root: string, env: NodeJS.ProcessEnv = {}) {
  const options = { cwd: root, encoding: 'utf8', env: { ...process.env, ...env } } as const;
  const { status, stderr } = spawnSync(process.execPath, ['service/setup.cjs'], options);
  return { status, said: stderr.trim().split('\n').at(-1) };
}

test.skipIf(isWindows)('npm left no command for Node: the set-up makes it, and goes on with it', () => {
  const { root, lock } = checkoutWith('24.0.0');
  const bin = join(root, 'node_modules', NODE, 'bin');
  mkdirSync(bin, { recursive: true });
  symlinkSync(process.execPath, join(bin, 'node'));
  // All is installed.
  const stamp = createHash('sha256').update(lock).digest('hex');
  writeFileSync(join(root, 'node_modules/.platen-setup'), stamp);
  const command = join(root, 'node_modules/.bin/node');
  for (const _time of ['made', 'there already']) {
    const said = join(realpathSync(root), 'node_modules/.bin/node');
    expect(setUp(root)).toEqual({ status: 0, said });
    expect(realpathSync(command)).toBe(realpathSync(process.execPath));
  }
});

/** In npm's place: says for which Node it would choose optional packages, and which it would start programs on. */
const NPM = `
const { mkdirSync, writeFileSync } = require('node:fs');
const { execFileSync } = require('node:child_process');
const starts = execFileSync(process.execPath, ['-p', 'process.version'], { encoding: 'utf8' }).trim();
mkdirSync('node_modules');
writeFileSync('npm.json', JSON.stringify({ words: process.argv.slice(2), chooses: process.version, starts }));
`;

test.skipIf(isWindows).each([
  { node: '9999.1.0', chooses: 'v9999.1.0', machine: 'older' },
  { node: '1.0.0', chooses: process.version, machine: 'no older' },
])(
  'npm installs for the Node that is locked, where the machine’s is $machine: native parts that want it are not left out',
  ({ node, chooses }) => {
    const { root } = checkoutWith(node);
    const npm = join(root, 'npm.cjs');
    writeFileSync(npm, NPM);
    expect(setUp(root, { npm_execpath: npm }).status).toBe(0);
    expect(JSON.parse(readFileSync(join(root, 'npm.json'), 'utf8'))).toEqual({
      words: expect.arrayContaining(['ci', '--omit=dev']),
      chooses,
      starts: chooses,
    });
  },
);

/** In npm's place: installs until it is let. */
const SLOW_NPM = `
const { existsSync, mkdirSync } = require('node:fs');
mkdirSync('node_modules');
console.error('npm runs');
while (existsSync('npm.cjs') && !existsSync('go')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
`;

test('of two at once the second waits, and finds all that the first has installed; one that was killed is waited for by none', async () => {
  const { root } = checkoutWith('24.0.0');
  const npm = join(root, 'npm.cjs');
  writeFileSync(npm, SLOW_NPM);
  const dead = spawnSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }).stdout;
  writeFileSync(join(root, '.platen-installing'), dead.trim());
  const start = () => {
    const env = { ...process.env, npm_execpath: npm };
    const child = spawn(process.execPath, ['service/setup.cjs'], { cwd: root, env });
    const ended = once(child, 'exit');
    const said = text(child.stderr);
    const says = (words: string) =>
      new Promise<void>((resolve, reject) => {
        child.stderr.on('data', (bytes: Buffer) => {
          if (bytes.includes(words)) resolve();
        });
        void said.then((all) => reject(new Error(`it said: ${all}`)));
      });
    return { ended, said, says };
  };
  const first = start();
  await first.says('npm runs');
  const second = start();
  await second.says('waiting for it');
  writeFileSync(join(root, 'go'), '');
  expect(await Promise.all([first.ended, second.ended])).toEqual([
    [0, null],
    [0, null],
  ]);
  expect(await second.said).not.toContain('npm runs');
  expect(() => readFileSync(join(root, '.platen-installing'))).toThrow('ENOENT');
});
