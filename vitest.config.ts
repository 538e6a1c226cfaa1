import { defineConfig } from 'vitest/config';

/** What needs no server, no package of the system and no root, and is over in seconds. */
const PURE = 'test/**/*.pure.test.ts';

export default defineConfig({
  test: {
    // On two cores: most of a file's time is waiting, for a printer, a deadline, a process. Tests within a file follow each other.
    pool: 'forks',
    maxWorkers: 4,
    testTimeout: 180_000,
    hookTimeout: 120_000,
    projects: [
      { extends: true, test: { name: 'pure', include: [PURE], isolate: false } },
      {
        extends: true,
        test: {
          name: 'servers',
          include: ['test/**/*.test.ts'],
          exclude: [PURE],
          globalSetup: ['test/kit/servers/set-up.ts'],
        },
      },
    ],
  },
});
