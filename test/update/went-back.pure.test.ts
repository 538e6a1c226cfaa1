/** What an agent finds beside its version, and what it makes of a note that is not one. */
import { mkdirSync, mkdtempSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Home } from '../../src/cli/update/home.ts';
import { WENT_BACK, wentBack } from '../../src/cli/update/went-back.ts';

test('the note of an update that went back is for everybody, until the next one begins', () => {
  const directory = mkdtempSync(join(tmpdir(), 'platen-home-'));
  const [root, note] = [join(directory, '1.0.0'), join(directory, WENT_BACK)];
  mkdirSync(join(root, 'app'), { recursive: true });
  writeFileSync(join(root, 'app/platen.js'), '');
  symlinkSync('1.0.0', join(directory, 'current'));
  const home = new Home(directory);
  expect(wentBack('1.0.0', root)).toBeUndefined();
  const umask = process.umask(0o077);
  home.markBad('1.1.0');
  process.umask(umask);
  expect(statSync(note).mode & 0o777).toBe(0o644);
  expect(wentBack('1.0.0', root)).toEqual({ version: '1.1.0', at: expect.stringMatching(/Z$/) });
  // It was killed while it went back, and 1.1.0 runs.
  expect(wentBack('1.1.0', root)).toBeUndefined();
  home.begin({ from: '1.0.0', to: '1.2.0' });
  expect(wentBack('1.0.0', root)).toBeUndefined();
  for (const text of ['', '1.1.0', '1.1.0 yesterday']) {
    writeFileSync(note, text);
    expect(wentBack('1.0.0', root)).toBeUndefined();
  }
});
