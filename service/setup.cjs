'use strict';
// Runs before every npm script, on whatever Node the machine has (old ones too, so: no modern syntax, no
// dependencies). Installs the locked packages when they are absent or when the lock file changed; among
// them is the Node that Platen itself runs on (optionalDependencies node-<os>-<cpu>), which `npm run`
// then finds first on the PATH. No package's install script is needed or run.
//
// `npm run setup -- --link [DIR]` also puts `platen` on the PATH: see link.cjs.
const { createHash } = require('node:crypto');
const {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} = require('node:fs');
const { join } = require('node:path');
const { spawnSync } = require('node:child_process');

const root = join(__dirname, '..');
const stampFile = join(root, 'node_modules', '.platen-setup');
/** Has the process ID of the set-up that installs. */
const installing = join(root, '.platen-installing');
/** ms; a set-up that takes longer is none any more, whatever process has its ID now. */
const LONGEST = 600000;
const dev = process.argv.includes('--dev');
const lock = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex');

/** What is installed: the lock file's hash, and whether the development packages are there too. */
function installed() {
  if (!existsSync(stampFile)) return { lock: '', dev: false };
  const words = readFileSync(stampFile, 'utf8').split(' ');
  return { lock: words[0], dev: words[1] === 'dev' };
}

/** The environment for npm, which is told the version of the Node that it installs where this one is older. */
function environment() {
  const found = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages[
    `node_modules/${own}`
  ];
  if (found === undefined || parseInt(process.versions.node, 10) >= parseInt(found.version, 10))
    return process.env;
  const options = `${process.env.NODE_OPTIONS || ''} --require=${JSON.stringify(join(__dirname, 'as-node.cjs'))}`;
  return Object.assign({}, process.env, { NODE_OPTIONS: options, PLATEN_AS_NODE: `v${found.version}` });
}

/** Whether a set-up that installs runs in this checkout. */
function another() {
  try {
    if (Date.now() - statSync(installing).mtimeMs > LONGEST) return false;
    process.kill(Number(readFileSync(installing, 'utf8')), 0);
    return true;
  } catch (error) {
    // The process is another user's.
    return error.code === 'EPERM';
  }
}

/** Waits for the set-up that installs here: `npm ci` would remove what that one has put there. */
function takeTurn() {
  for (let waits = false; ; waits = true) {
    try {
      writeFileSync(installing, String(process.pid), { flag: 'wx' });
      process.on('exit', endTurn);
      return;
    } catch (error) {
      // Where nothing can be written, npm says so.
      if (error.code !== 'EEXIST') return;
    }
    if (another()) {
      if (!waits) process.stderr.write('Another set-up installs the packages; waiting for it …\n');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    } else endTurn();
  }
}

function endTurn() {
  try {
    unlinkSync(installing);
  } catch (error) {
    // Whoever waits beside this one was faster.
    if (error.code !== 'ENOENT') throw error;
  }
}

/** Ends the process. What has failed may have named a file alone, where nothing at all can be written. */
function fail(what, status) {
  process.stderr.write(`${what}; see the message above.\n`);
  try {
    accessSync(root, constants.W_OK);
  } catch (error) {
    process.stderr.write(
      `Nothing can be written into ${root} (${error.code}), where the packages and the console go. Set it up before it is made ` +
        'read-only, or copy it to where you may write.\n',
    );
  }
  process.exit(status === null ? 1 : status);
}

const isWindows = process.platform === 'win32';
const own = `node-${isWindows ? 'win' : process.platform}-${process.arch}`;
function isMissing() {
  const now = installed();
  return now.lock !== lock || (dev && !now.dev);
}
if (isMissing()) takeTurn();
if (isMissing()) {
  process.stderr.write('Installing the packages of package-lock.json (once, about a minute) …\n');
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  if (!dev) args.push('--omit=dev');
  const how = { cwd: root, stdio: ['ignore', 2, 2], shell: false, env: environment() };
  // npm gives its scripts its own path; outside of npm, the one on the PATH is used.
  const npm = process.env.npm_execpath;
  const run = npm
    ? spawnSync(process.execPath, [npm].concat(args), how)
    : spawnSync('npm', args, Object.assign(how, { shell: isWindows }));
  if (run.status !== 0) fail('npm ci failed', run.status);
  writeFileSync(stampFile, lock + (dev ? ' dev' : ''));
  process.stderr.write(
    'Done. The program is service/platen; "npm run setup -- --link" puts platen on the PATH.\n',
  );
}

// npm up to 11.0 removes the command `node` again with the packages for other systems, which name it too.
const ownNode = join(root, 'node_modules', '.bin', isWindows ? 'node.cmd' : 'node');
if (!existsSync(ownNode) && existsSync(join(root, 'node_modules', own))) {
  mkdirSync(join(root, 'node_modules', '.bin'), { recursive: true });
  if (isWindows) writeFileSync(ownNode, `@"%~dp0..\\${own}\\bin\\node.exe" %*\r\n`);
  else symlinkSync(`../${own}/bin/node`, ownNode);
}

// The console's pages, on the Node that has just been installed: this one may be too old for the bundler.
const made = spawnSync(existsSync(ownNode) ? ownNode : process.execPath, [join(__dirname, 'console.ts')], {
  stdio: ['ignore', 2, 2],
  shell: isWindows,
});
if (made.status !== 0) fail('The console could not be built', made.status);

const asked = process.argv.indexOf('--link');
if (asked >= 0) require('./link.cjs').link(process.argv[asked + 1]);
