/** The watched folders of a service or an agent: they are watched while it runs, whatever becomes of them. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../../log.ts';
import { explain } from '../explain.ts';
import { CommandFailure } from '../failure.ts';
import { ServiceRefusal } from '../refusal.ts';
import { accountIn, REFUSED } from './account-client.ts';
import type { FolderEntry } from './folders-config.ts';
import type { Connect } from './printed.ts';
import { ProgramGone } from './records.ts';
import { type FolderListener, watch } from './watching.ts';

/** ms until the next try where a folder cannot be watched: it may be on a share, or its printer may not be known yet. */
const RETRY_MS = 5_000;
/** The same where the service refuses the account: it counts such tries. */
const REFUSED_MS = 30_000;

interface WatchedFolders {
  /** Resolves when no file is being printed. */
  stop(): Promise<void>;
}

/** @param own has the authority that counts for folders without an account; an agent has none */
export function watchFolders(
  entries: readonly FolderEntry[],
  logger: Logger,
  own: Connect = nobody,
): WatchedFolders {
  const end = new AbortController();
  const watched = entries.map((entry) => watchForGood(entry, own, logger, end.signal));
  return {
    async stop() {
      end.abort();
      await Promise.all(watched);
    },
  };
}

async function nobody(): Promise<never> {
  throw new CommandFailure('Name an account: an agent makes no jobs of its own.');
}

async function watchForGood(
  { directory, account, tenant = 'default', ...print }: FolderEntry,
  own: Connect,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  const connect = account === undefined ? own : accountIn(account, signal);
  let said: string | undefined;
  const listener: FolderListener = {
    watching() {
      said = undefined;
      logger.info({ folder: directory }, 'the folder is watched');
    },
    // Names of files are whatever people write.
    moved(_name, { outcome, job, code }) {
      const told = { folder: directory, jobId: job, code };
      if (outcome === 'done') logger.info(told, 'a file of the folder is done');
      else logger.warn(told, 'a file of the folder has failed: the text beside it says why');
    },
    later(name, error) {
      const told = { folder: directory, code: codeOf(error), ...(name === '' && { why: explain(error) }) };
      const what = name === '' ? 'the folder' : 'a file of the folder';
      logger.warn(told, `${what} cannot be printed at present: it is tried again`);
    },
  };
  while (!signal.aborted) {
    let retryMs = RETRY_MS;
    try {
      await watch({ directory, options: { ...print, tenant }, connect, listener, signal });
    } catch (error) {
      if (signal.aborted) return;
      const why = explain(error);
      if (why !== said)
        logger.warn({ folder: directory, code: codeOf(error), why }, 'the folder is not watched at present');
      said = why;
      // A restart goes on with what was taken.
      if (error instanceof ProgramGone) return;
      if (error instanceof ServiceRefusal && error.code === REFUSED) retryMs = REFUSED_MS;
    }
    await pause(retryMs, undefined, { signal }).catch(() => undefined);
  }
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error ? String(error.code) : error.name;
}
