/** A test that has failed once without a change that explains it: it does not run until its cause is found. CI prints this list. */
export interface Quarantined {
  /** From `test/`. */
  file: string;
  /** Its name, without those of the `describe`s around it. */
  test: string;
  /** The day on which it failed. */
  since: string;
  /** What is known of the cause. */
  known: string;
}

export const QUARANTINE: readonly Quarantined[] = [
  ...['embedded', 'redis'].map((setup) => ({
    file: `chaos/${setup}.long.test.ts`,
    test: 'no label is lost, doubled, spoiled or stuck under faults',
    since: '2026-11-26',
    known:
      'our label ran into the half of a label that a stranger had left at a printer without a counter. Most likely it came ' +
      'within 250 ms of the last answer: `~JX` goes first only where that is older. Seed 8, one run of three, embedded.',
  })),
  {
    file: 'package/windows.long.test.ts',
    test: 'a configuration that cannot be used: said in the log, and not started again',
    since: '2026-11-26',
    known:
      'Wine lost what `platen doctor` printed (it ended with 1, as it should), and what was installed stayed there for the ' +
      'tests that follow. One run of three, on a busy machine.',
  },
];
