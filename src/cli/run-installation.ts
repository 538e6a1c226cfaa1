/** Runs an installation until the process is told to stop, or until it cannot go on. */
import { setTimeout as pause } from 'node:timers/promises';
import { createLogger } from '../log.ts';
import { keepCrashReports } from './crash-report.ts';
import { mustEnd } from './ending.ts';
import { Installation, type InstallationOptions, type Ready } from './installation.ts';
import { printLine } from './output.ts';
import { keepFilesPrivate } from './private-files.ts';
import { serviceManager } from './service-manager.ts';
import { stopped, untilToldToStop } from './stop-signal.ts';
import { keepTrimmed } from './trimmed.ts';

/** How often the service manager is told of the service, ms. */
const ASK_EVERY_MS = 10_000;

/**
 * Prints the ready line when everything runs, after `whenReady` has done its part.
 * @throws whatever kept it from starting, or ended it
 */
export async function runInstallation(
  options: Omit<InstallationOptions, 'logger' | 'onLost'>,
  whenReady: (installation: Installation, ready: Ready) => Promise<void> = async () => {},
): Promise<void> {
  keepFilesPrivate();
  keepCrashReports(options.dataDir);
  keepTrimmed();
  // In a terminal the ready line is what somebody waits for, and a log would bury it.
  const quiet = process.stderr.isTTY && process.env['LOG_LEVEL'] === undefined;
  const logger = createLogger(quiet ? { level: 'warn' } : {});
  const toldToStop = untilToldToStop(logger);
  const lost = new AbortController();
  const end = AbortSignal.any([toldToStop, lost.signal]);
  const manager = await serviceManager(logger);
  const onAgentScan = () => manager?.beat('agent');
  const installation = new Installation({
    ...options,
    logger,
    onAgentScan,
    onLost: (error) => lost.abort(error),
  });
  try {
    const ready = await installation.start(end);
    await whenReady(installation, ready);
    printLine(`platen is ready at ${ready.url}`);
    if (quiet) printLine('Ctrl+C ends it; with LOG_LEVEL=info it says what it does.');
    if (manager !== null) {
      manager.ready(end, ['service', ...(options.agent === false ? [] : ['agent'])]);
      void answering(ready.url, end, () => manager.beat('service'));
    }
    await stopped(end);
    lost.signal.throwIfAborted();
  } catch (error) {
    if (!toldToStop.aborted) throw error;
  } finally {
    mustEnd();
    await installation.stop();
  }
}

/** Asks the service over HTTP, as its callers do, until the end; a late answer does not count. */
async function answering(url: string, end: AbortSignal, onAnswer: () => void): Promise<void> {
  while (!end.aborted) {
    const limit = AbortSignal.any([end, AbortSignal.timeout(ASK_EVERY_MS)]);
    const answer = await fetch(`${url}/healthz`, { signal: limit }).catch(() => null);
    await answer?.body?.cancel();
    if (answer?.ok) onAnswer();
    await pause(ASK_EVERY_MS, undefined, { signal: end, ref: false }).catch(() => {});
  }
}
