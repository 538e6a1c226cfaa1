/** What the doctor says of users and modes: of the files themselves, without a service. */
import { chownSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { permissions } from '../../src/cli/doctor/machine.ts';
import type { Subject } from '../../src/cli/doctor/subject.ts';
import { nobody } from '../kit/programs/ordinary-user.ts';

const isRoot = process.getuid?.() === 0;

function subject(more: Partial<Subject> = {}): Subject {
  const dataDir = mkdtempSync(join(tmpdir(), 'platen-permissions-'));
  const none = { file: null, isAgent: false, agent: null, service: null, client: null, status: null };
  return { dataDir, places: {}, ...none, ...more };
}

describe.runIf(isRoot)('what belongs to the wrong user', () => {
  test('a database that other programs reach, since it is nobody’s', async () => {
    const one = subject();
    const home = join(one.dataDir, 'postgres');
    mkdirSync(home);
    chownSync(home, nobody?.uid ?? 0, nobody?.gid ?? 0);
    expect(await permissions(one)).toEqual([
      expect.objectContaining({
        result: 'warning',
        detail: expect.stringContaining(`${home} belongs to nobody`),
      }),
    ]);
  });
});
