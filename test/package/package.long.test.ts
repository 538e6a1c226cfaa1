/** `npm run package` on machines that lack what makes some of it. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onPath } from '../kit/servers/debian-packages.ts';

const PACKAGE = join(import.meta.dirname, '../../service/package/package.ts');
const directory = mkdtempSync(join(tmpdir(), 'platen-half-'));
const out = join(directory, 'dist');
const path = join(directory, 'bin');

beforeAll(() => {
  mkdirSync(path);
  for (const program of ['git', 'npm', 'sh', 'env', 'tar', 'gzip']) {
    symlinkSync(onPath(program) ?? `/no ${program}`, join(path, program));
  }
  symlinkSync(process.execPath, join(path, 'node'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface Made {
  code: number;
  said: string;
}

/** With git, npm and what every Linux has. */
async function make(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Made> {
  return await new Promise((resolve) => {
    const options = { env: { ...process.env, PATH: path, ...env }, timeout: 170_000 };
    execFile(process.execPath, [PACKAGE, '--out', out, ...args], options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), said: stdout + stderr }),
    );
  });
}

function madeFiles(): string[] {
  return readdirSync(out).sort();
}

test('what cannot be made is named, and the rest is whole, with its checksums', async () => {
  const { code, said } = await make(['--only', 'platen-agent-windows', '--only', 'platen-fonts-cjk']);
  expect(code, said).toBe(0);
  expect(said).toContain(
    'leaves out the Debian package of the fonts: install dpkg (there is no dpkg-deb)\n' +
      'package: leaves out the installer for Windows: install wixl (there is no wixl), msitools (there is no msibuild, msiinfo)\n',
  );
  const sums = readFileSync(join(out, 'SHA256SUMS'), 'utf8').trim().split('\n');
  expect(
    sums
      .map((line) => line.split('  ')[1])
      .concat('SHA256SUMS')
      .sort(),
  ).toEqual(madeFiles());
  expect(madeFiles().map((name) => name.replace(/.*\./, ''))).toEqual(['SHA256SUMS', 'json', 'zip']);
  for (const [sum, name = ''] of sums.map((line) => line.split('  '))) {
    expect(
      createHash('sha256')
        .update(readFileSync(join(out, name)))
        .digest('hex'),
    ).toBe(sum);
  }
}, 600_000);

test('where nothing can be made, or would not fit in the end, it ends at once and what was made before stays', async () => {
  const key = join(directory, 'key.pem');
  writeFileSync(key, 'no key');
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out);
  writeFileSync(join(out, 'before'), '');
  const refused = [
    [await make(['--only', 'platen']), 'nothing can be built here'],
    [await make(['--only', 'platn']), '--only platn: expected one of platen-agent, platen,'],
    [await make(['--version', '1.2']), '--version 1.2: expected a version like 1.2.3'],
    [await make([], { PLATEN_SIGNING_KEY: key }), 'key.pem is no Ed25519 private key in PEM'],
  ] as const;
  for (const [{ code, said }, why] of refused) {
    expect(said).toContain(why);
    expect(code).toBe(2);
  }
  expect(madeFiles()).toEqual(['before']);
});
