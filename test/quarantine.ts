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
  {
    file: 'package/windows.long.test.ts',
    test: 'a configuration that cannot be used: said in the log, and not started again',
    since: '2026-11-26',
    known:
      'Wine lost what `platen doctor` printed (it ended with 1, as it should), and what was installed stayed there for the ' +
      'tests that follow. One run of three, on a busy machine.',
  },
];
