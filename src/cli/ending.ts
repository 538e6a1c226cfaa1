/** Ends a process that was told to stop: in steps, and within a time limit even if a step does not end. */
import { EXIT } from './failure.ts';

/** An agent with a job under way at a printer that does not answer takes 40 s. */
const STOP_MS = 60_000;
/** How long what is left may keep a process alive after its command is done. */
const LINGER_MS = 3_000;

const underWay = new Set<string>();
let told = false;

/** Ends one part. If the time runs out meanwhile, the process names the part as one that does not end. */
export async function ending(part: string, end: () => Promise<void>): Promise<void> {
  underWay.add(part);
  try {
    await end();
  } finally {
    underWay.delete(part);
  }
}

/** From now on the process has 60 s to end. Calling it again changes nothing. */
export function mustEnd(): void {
  if (told) return;
  told = true;
  setTimeout(() => {
    exit(`not ended after ${STOP_MS / 1000} s: ${[...underWay].join(', ')}`, EXIT.failed);
  }, STOP_MS).unref();
}

/** The command is done, with `process.exitCode`; nothing is left to wait for. */
export function done(): void {
  // Except for a slow reader (on Windows a pipe is written in the background).
  if (process.stdout.writableLength > 0) return;
  setTimeout(() => exit('everything is done', process.exitCode), LINGER_MS).unref();
}

function exit(message: string, code: typeof process.exitCode): never {
  const left = process.getActiveResourcesInfo().join(', ');
  process.stderr.write(`platen: ${message}; what is open still (${left}) ends now\n`);
  process.exit(code);
}
