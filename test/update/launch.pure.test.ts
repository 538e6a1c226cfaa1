/** What `launch` makes of starts of a version on trial, before each of which the unit runs it. */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** The most that are tried, and one more. */
const STARTS = 4;

class OnTrial {
  readonly home = mkdtempSync(join(tmpdir(), 'platen-launch-'));
  readonly notes = join(this.home, '.update');

  constructor() {
    for (const directory of ['1.0.0', '1.1.0', '.update', 'data']) mkdirSync(join(this.home, directory));
    copyFileSync(join(import.meta.dirname, '../../service/package/launch'), join(this.home, 'launch'));
    symlinkSync('1.1.0', join(this.home, 'current'));
    writeFileSync(join(this.notes, 'pending'), '1.0.0 1.1.0\n');
  }

  /** @returns the version that starts then */
  start(): string {
    const env = { ...process.env, PLATEN_DATA: join(this.home, 'data') };
    const { status, stderr } = spawnSync('sh', [join(this.home, 'launch'), 'guard'], {
      env,
      encoding: 'utf8',
    });
    expect(status, stderr).toBe(0);
    return readlinkSync(join(this.home, 'current'));
  }

  /** Its agent said last that it runs so many seconds after its start. @param told when its service has heard of it */
  ranFor(seconds: number, told: string | null): void {
    const file = join(this.home, 'data/agent-status.json');
    writeFileSync(file, JSON.stringify({ report: { version: '1.1.0' }, told: { at: told, error: null } }));
    const at = statSync(join(this.notes, 'attempts')).mtimeMs / 1_000 + seconds;
    utimesSync(file, at, at);
  }
}

test.each([
  ['that says nothing', undefined],
  ['that ends as soon as it has said something', 5],
])('a version %s goes back at its fourth start', (_, seconds) => {
  const trial = new OnTrial();
  for (let start = 1; start < STARTS; start++) {
    expect(trial.start()).toBe('1.1.0');
    if (seconds !== undefined) trial.ranFor(seconds, null);
  }
  expect(trial.start()).toBe('1.0.0');
  expect(readFileSync(join(trial.notes, 'bad'), 'utf8')).toBe('1.1.0\n');
});

test('a version that works and does not reach its service stays, however often it is started', () => {
  const trial = new OnTrial();
  for (let start = 0; start < 3 * STARTS; start++) {
    expect(trial.start()).toBe('1.1.0');
    trial.ranFor(90, null);
  }
  expect(existsSync(join(trial.notes, 'pending'))).toBe(true);
  trial.ranFor(90, '2026-11-22T08:00:00.000Z');
  expect(trial.start()).toBe('1.1.0');
  expect(existsSync(join(trial.notes, 'pending'))).toBe(false);
});
