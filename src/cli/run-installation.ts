/** Runs an installation until the process is told to stop, or until it cannot go on. */
import { createLogger } from '../log.ts';
import { mustEnd } from './ending.ts';
import { Installation, type InstallationOptions, type Ready } from './installation.ts';
import { printLine } from './output.ts';
import { keepFilesPrivate } from './private-files.ts';
import { stopped, untilToldToStop } from './stop-signal.ts';

/**
 * Prints the ready line when everything runs, after `whenReady` has done its part.
 * @throws whatever kept it from starting, or ended it
 */
export async function runInstallation(
  options: Omit<InstallationOptions, 'logger' | 'onLost'>,
  whenReady: (installation: Installation, ready: Ready) => Promise<void> = async () => {},
): Promise<void> {
  keepFilesPrivate();
  const logger = createLogger();
  const toldToStop = untilToldToStop(logger);
  const lost = new AbortController();
  const end = AbortSignal.any([toldToStop, lost.signal]);
  const installation = new Installation({ ...options, logger, onLost: (error) => lost.abort(error) });
  try {
    const ready = await installation.start(end);
    await whenReady(installation, ready);
    printLine(`platen is ready at ${ready.url}`);
    await stopped(end);
    lost.signal.throwIfAborted();
  } catch (error) {
    if (!toldToStop.aborted) throw error;
  } finally {
    mustEnd();
    await installation.stop();
  }
}
