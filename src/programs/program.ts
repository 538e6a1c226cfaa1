/**
 * A program: labels that others have written in a printers' language, of which a printer of that language gets each as it
 * stands. Its bytes are characters here (latin1), so that what is sent is what came.
 *
 * A label may rely on what those before it have set, and may be printed without them: after a crash, or again. So each has
 * the state that the program had come to.
 */
import { createHash } from 'node:crypto';
import type { Reason } from '../contract/reason.ts';

export interface LabelProgram {
  readonly labels: readonly ProgramLabel[];
  /** Graphics and fonts, to be sent before the first of its labels that is sent. */
  readonly downloads: string;
  /** The names of those that are to be deleted again. */
  readonly objects: readonly string[];
  /** Bytes of the binary data that one of its commands has, at most. */
  readonly largest: number;
}

export interface ProgramLabel {
  /** How many of it the program asks for, ≥ 1. */
  readonly quantity: number;
  /** What the program has set before it. */
  readonly state: string;
  /** Names of the commands in it, and before it, that hold for the next labels too. */
  readonly lasts: readonly string[];
  /** Commands that set the printer up, which the tenant may send, since the label before it. */
  readonly setUp: string;
  /**
   * The label, as it was sent where one is asked for.
   * @throws JobFaultError `template-invalid`: its graphics are too large
   */
  text(copies: number): string;
}

/** Whose rules a program is read by. */
export interface ProgramRules {
  /** Names what the program downloads into the printer. */
  readonly jobId: string;
  /** The tenant may set the printer up. */
  readonly printerCommands: boolean;
}

/** Most labels of a program, and most that it may ask for. */
export const MOST_LABELS = 2_000;

/** Why a program is not printed. */
export class ProgramFault extends Error {
  readonly reason: Reason;

  constructor(reason: Reason) {
    super(reason.code);
    this.name = 'ProgramFault';
    this.reason = reason;
  }
}

/**
 * A name for an object that a job stores in a printer's memory, which other jobs and senders share.
 *
 * The name has six characters, of the eight that a name may have, because every label repeats it. It is a
 * hash of the job's ID: two jobs get the same name once in 60 million, and a job that continues after a crash
 * overwrites its own.
 * @param kind a letter for the kind of object
 */
export function ownName(jobId: string, kind: 'G' | 'P'): string {
  const hash = createHash('sha256').update(jobId).digest().readBigUInt64BE();
  return `${kind}${(hash % 36n ** 5n).toString(36).toUpperCase().padStart(5, '0')}`;
}
