/**
 * How a command ends: 0 done, 1 refused or failed, 2 wrong usage. Errors go to stderr; stdout carries results
 * only, so that `--json` output can always be piped.
 */
export const EXIT = { done: 0, failed: 1, usage: 2 } as const;

/** Ends the command with a message for a person, and without a stack trace. */
export class CommandFailure extends Error {
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = EXIT.failed) {
    super(message);
    this.name = 'CommandFailure';
    this.exitCode = exitCode;
  }
}
