/** Runs before each test: one that is in quarantine is skipped, and says why. */
import { relative } from 'node:path';
import { beforeEach } from 'vitest';
import { QUARANTINE } from '../quarantine.ts';

const TESTS = new URL('..', import.meta.url).pathname;

if (QUARANTINE.length > 0) {
  beforeEach(({ task, skip }) => {
    const file = relative(TESTS, task.file.filepath);
    const found = QUARANTINE.find((one) => one.file === file && one.test === task.name);
    if (found !== undefined) skip(`in quarantine since ${found.since}: ${found.known}`);
  });
}
