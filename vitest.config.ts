import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/kit/longest-first.ts';
import { builtThreads } from './test/kit/programs/built.ts';
import { RunSummary } from './test/kit/run-summary.ts';
import { leftOut } from './test/kit/servers/what-files-need.ts';

/** What needs no server, no package of the system and no root, and is over in seconds. */
const PURE = 'test/**/*.pure.test.ts';
/** What takes long, or needs packages of the system beside Redis, a browser and small tools. */
const LONG = 'test/**/*.long.test.ts';
/** What must hold on every backend: on two of them in `servers`, on the others in `long`. */
const BACKENDS = 'test/**/*.backends.test.ts';

const onServers = {
  // Loading the service anew for every file would take a fifth of the CPU time of a run.
  isolate: false,
  // On two cores: two thirds of a file’s time are waiting, for a printer, a deadline, a process, and its tests follow each
  // other. A file of the long ones takes 4 to 12 % longer among four others than alone.
  maxWorkers: 7,
  globalSetup: ['test/kit/servers/set-up.ts'],
};

export default defineConfig({
  plugins: [builtThreads()],
  test: {
    pool: 'forks',
    setupFiles: ['test/kit/skip-quarantined.ts', 'test/kit/cpu-of-file.ts'],
    reporters: ['default', new RunSummary()],
    sequence: { sequencer: LongestFirst },
    testTimeout: 400_000,
    hookTimeout: 120_000,
    // By default 1 s, which a busy machine takes for less than what is waited for.
    expect: { poll: { timeout: 15_000 } },
    projects: [
      {
        extends: true,
        test: { name: 'pure', include: [PURE], isolate: false, maxWorkers: 4, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        test: {
          name: 'servers',
          include: ['test/**/*.test.ts'],
          exclude: [PURE, LONG, ...leftOut('servers').files],
          sequence: { groupOrder: 1 },
          ...onServers,
        },
      },
      {
        extends: true,
        test: {
          name: 'long',
          include: [LONG, BACKENDS],
          exclude: leftOut('long').files,
          setupFiles: ['test/kit/when-cores-are-free.ts'],
          sequence: { groupOrder: 2 },
          ...onServers,
        },
      },
    ],
  },
});
