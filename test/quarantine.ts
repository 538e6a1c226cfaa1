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

export const QUARANTINE: readonly Quarantined[] = [];
