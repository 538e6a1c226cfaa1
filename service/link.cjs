'use strict';
// Puts `platen` on the PATH: a symbolic link in the directory named, by default in /usr/local/bin, or in ~/.local/bin
// for those who may not write there. Only where it is asked for: `npm run setup -- --link [DIR]`.
const {
  accessSync,
  constants,
  lstatSync,
  mkdirSync,
  readlinkSync,
  symlinkSync,
  unlinkSync,
} = require('node:fs');
const { homedir } = require('node:os');
const { delimiter, join, resolve } = require('node:path');

const program = join(__dirname, 'platen');

/** Ends the process with 1 if the link cannot be made. Only a link to a `service/platen` is replaced. */
function link(chosen) {
  if (process.platform === 'win32') fail(`add ${__dirname} to the PATH in the system's settings.`);
  // npm runs its scripts in the clone, wherever it was called.
  const directory = resolve(process.env.INIT_CWD || '.', chosen || usualDirectory());
  const path = join(directory, 'platen');
  try {
    mkdirSync(directory, { recursive: true });
    const there = lstatSync(path, { throwIfNoEntry: false });
    if (there !== undefined) {
      if (!there.isSymbolicLink() || !/\/service\/platen$/.test(readlinkSync(path))) {
        fail(`${path} is there already, and is something else.`);
      }
      unlinkSync(path);
    }
    symlinkSync(program, path);
  } catch (error) {
    fail(error.message);
  }
  const isOnPath = (process.env.PATH || '').split(delimiter).includes(directory);
  const then = isOnPath ? '' : `  That is not on your PATH: export PATH="$PATH:${directory}"\n`;
  process.stderr.write(`${path} is ${program}\n${then}`);
}

function fail(why) {
  process.stderr.write(`platen is not on the PATH: ${why}\n`);
  process.exit(1);
}

function usualDirectory() {
  try {
    accessSync('/usr/local/bin', constants.W_OK);
    return '/usr/local/bin';
  } catch {
    return join(homedir(), '.local', 'bin');
  }
}

module.exports = { link };
if (require.main === module) link(process.argv[2]);
