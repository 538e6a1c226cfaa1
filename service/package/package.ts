/**
 * `npm run package [-- --out DIR] [--version V] [--only NAME]…`: Debian packages for this machine's processor, the agent
 * for Windows, a software bill of materials for each, archives for `platen update`, and their checksums. The same commit
 * gives the same bytes.
 * PLATEN_SIGNING_KEY names the file with the maintainer's private key (Ed25519, PEM), with which updates are signed.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import metadata from '../../package.json' with { type: 'json' };
import { versionArchive } from './archive.ts';
import { agentDeb, cjkFontsDeb, serviceDeb } from './debian.ts';
import { windowsPackages } from './windows.ts';

const root = resolve(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    out: { type: 'string', default: join(root, 'dist') },
    version: { type: 'string', default: metadata.version },
    only: { type: 'string', multiple: true },
  },
});

const packages = {
  'platen-agent': agentDeb,
  platen: serviceDeb,
  'platen-fonts-cjk': cjkFontsDeb,
  'platen-agent-windows': windowsPackages,
};
const names = [...Object.keys(packages), 'archives'];
const unknown = values.only?.find((name) => !names.includes(name));
if (unknown !== undefined) {
  process.stderr.write(`package: --only ${unknown}: expected one of ${names.join(', ')}\n`);
  process.exit(2);
}

const out = resolve(values.out);
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const time = commitTime();
const keyFile = process.env['PLATEN_SIGNING_KEY'] || undefined;
const signing = keyFile === undefined ? {} : { signingKey: readFileSync(keyFile, 'utf8') };
const files: string[] = [];
for (const [name, make] of Object.entries(packages)) {
  if (values.only?.includes(name) === false) continue;
  files.push(...(await make({ root, out, version: values.version, time })));
}
for (const edition of ['agent', 'platen'] as const) {
  if (values.only?.includes('archives') === false) continue;
  files.push(...(await versionArchive({ root, out, version: values.version, time, ...signing }, edition)));
}
const sums = files.map((file) => `${sha256(join(out, file))}  ${file}\n`);
writeFileSync(join(out, 'SHA256SUMS'), sums.join(''));
process.stdout.write(sums.join(''));

/** The time of the commit, which everything in the packages gets. */
function commitTime(): Date {
  const told = process.env['SOURCE_DATE_EPOCH'];
  const seconds = told ?? execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' });
  return new Date(Number(seconds) * 1000);
}

function sha256(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
