/** Prints one file that was taken from a watched folder, and moves it on. */
import { createHash } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { extname } from 'node:path';
import type { TemplateView } from '../../contract/admin.ts';
import type { JobView } from '../../contract/job.ts';
import { KEY_HOURS } from '../../contract/limits.ts';
import type { PrintRequestInput } from '../../contract/print-request.ts';
import type { PrinterView } from '../../contract/printer-view.ts';
import { explain } from '../explain.ts';
import { CommandFailure } from '../failure.ts';
import { followJob, jobLine, nextStep } from '../job-progress.ts';
import { idAmong, type RouteOptions, routeOf } from '../print.ts';
import { isAway, type RefusedPlace, ServiceRefusal } from '../refusal.ts';
import type { SentNote, Taken, WatchedFolder } from './folder.ts';
import { bytesOf, isDocument, recordsFrom, StillWritten, UnprintableFile } from './records.ts';

/** What the files of a folder are printed with. */
export interface PrintedOptions extends RouteOptions {
  template: string;
  wait?: boolean;
}

/** What a watched folder asks of the service: `AdminClient`, or `AccountClient`. */
export interface FolderClient {
  templates(tenant: string): Promise<Pick<TemplateView, 'id' | 'name' | 'language' | 'fields'>[]>;
  printers(tenant: string): Promise<Pick<PrinterView, 'id' | 'name'>[]>;
  enqueue(
    tenant: string,
    request: PrintRequestInput,
    key: string,
  ): Promise<{ id: string; again: boolean; warnings: string[] }>;
  job(id: string, signal?: AbortSignal): Promise<JobView>;
}
/** @throws CommandFailure where the service is not known at present */
export type Connect = () => Promise<FolderClient>;

/** The service cannot take any file at present. */
export class NotNow extends Error {
  readonly code: string;

  constructor(cause: unknown) {
    super(explain(cause));
    this.code = cause instanceof ServiceRefusal ? cause.code : 'service-away';
  }
}

export interface Moved {
  outcome: 'done' | 'failed';
  /** Where the file is now, from the folder. */
  file: string;
  job?: string | undefined;
  /** Why it failed. */
  code?: string | undefined;
}

/** h after which a request is not repeated: the service might not know its key any more. */
const REPEATED_HOURS = KEY_HOURS - 1;
/** Longest reason in a text, characters. */
const MOST_REASON = 20_000;
/** Refusals that are about the caller or the moment, not about the file. */
const FOR_NOW = new Set([401, 408, 429]);

/**
 * @throws NotNow when the service is away; the system's error where the file cannot be read or moved now. Then the file
 * stays where it is, and the same call goes on
 */
export async function printed(
  folder: WatchedFolder,
  taken: Taken,
  options: PrintedOptions,
  connect: Connect,
  signal: AbortSignal,
): Promise<Moved> {
  const finish = async (
    outcome: 'done' | 'failed',
    headline: string,
    text: string,
    job?: string,
    code?: string,
  ) => {
    const page = `${headline}\n${new Date().toISOString()}\n\n${text.slice(0, MOST_REASON)}\n`;
    return { outcome, file: await folder.finish(taken, outcome, page), job, code };
  };
  const sent = await folder.sent(taken);
  let accepted: { job: string; about: string };
  try {
    const client = await connected(connect);
    accepted = await inTurn(async () => {
      signal.throwIfAborted();
      return await sentOnce(folder, taken, options, client, sent);
    });
  } catch (error) {
    const reason = reasonOf(error, taken.name);
    if (error instanceof Unknown) {
      return await finish(
        'failed',
        'It is not known whether this was printed.',
        reason,
        undefined,
        'unknown',
      );
    }
    const refused = error instanceof ServiceRefusal ? error.code : 'file-unprintable';
    return await finish('failed', 'Not printed.', reason, undefined, refused);
  }
  const { job, about } = accepted;
  const show = `"platen job show ${job}" says what has become of it.`;
  if (!options.wait) return await finish('done', `Accepted as job ${job}.`, `${about}\n${show}`, job);
  const client = await connected(connect);
  const ended = await followJob(client, job, () => undefined, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new NotNow(error);
  });
  const text = `${about}\n${jobLine(ended)}${nextStep(ended)}`;
  if (ended.status === 'printed') return await finish('done', `Printed as job ${job}.`, text, job);
  return await finish('failed', `Job ${job} is ${ended.status}.`, text, job, ended.status);
}

/** A process may watch many folders, and a file that is read takes memory: one at a time. */
let turn: Promise<unknown> = Promise.resolve();
async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const done = turn.then(work);
  turn = done.catch(() => undefined);
  return await done;
}

/** It was sent, and what became of it cannot be found out any more. */
class Unknown extends Error {}

/** Sends a file's records unless they were accepted before. @throws NotNow; Unknown; whatever is wrong with the file */
async function sentOnce(
  folder: WatchedFolder,
  taken: Taken,
  options: PrintedOptions,
  client: FolderClient,
  sent: SentNote | undefined,
): Promise<{ job: string; about: string }> {
  if (sent?.job !== undefined) return { job: sent.job, about: `It was sent at ${sent.since}.` };
  const before = await lstat(taken.path);
  const bytes = await bytesOf(taken.path);
  const { id, template, route } = await forNow(async () => {
    const templates = await client.templates(options.tenant);
    const id = idAmong(templates, options.template);
    const template = templates.find((one) => one.id === id) ?? { language: 'platen' as const, fields: [] };
    return { id, template, route: await routeOf(client, options) };
  });
  const printer = route.printerId ?? route.printer ?? '';
  const key = keyOf(bytes, id, printer);
  if (sent !== undefined && (sent.key !== key || isOld(sent))) {
    throw new Unknown(
      `It was sent at ${sent.since}, and no answer came; since then ` +
        (sent.key === key
          ? `more than ${REPEATED_HOURS} hours have passed.`
          : 'template or printer have changed.') +
        ' "platen jobs" lists what was printed. Put the file into the folder again to print it.',
    );
  }
  const data = await recordsFrom(taken.path, bytes, template);
  const now = await lstat(taken.path);
  if (now.size !== before.size || now.mtimeMs !== before.mtimeMs) throw new StillWritten();
  const { since } = sent ?? { since: new Date().toISOString() };
  await folder.noteSent(taken, { key, since });
  const {
    id: job,
    again,
    warnings,
  } = await forNow(() => client.enqueue(options.tenant, { idT: id, ...route, data }, key));
  await folder.noteSent(taken, { key, since, job });
  const about = [
    `${data.length} ${data.length === 1 ? 'record' : 'records'}, template ${options.template}, printer ${printer}.`,
    ...warnings.map((warning) => `Warning: ${warning}`),
  ].join('\n');
  if (!again || sent !== undefined) return { job, about };
  return { job, about: `The same was put in before, and nothing was printed again. ${about}` };
}

async function connected(connect: Connect): Promise<FolderClient> {
  return await connect().catch((error: unknown) => {
    throw new NotNow(error);
  });
}

async function forNow<T>(ask: () => Promise<T>): Promise<T> {
  return await ask().catch((error: unknown) => {
    const later = isAway(error) || (error instanceof ServiceRefusal && FOR_NOW.has(error.status));
    throw later ? new NotNow(error) : error;
  });
}

/** The Idempotency-Key of a file: its bytes, the template and the printer. */
function keyOf(bytes: Uint8Array, template: string, printer: string): string {
  const content = createHash('sha256').update(bytes).digest('hex');
  return `watch-${createHash('sha256')
    .update(JSON.stringify([content, template, printer]))
    .digest('hex')}`;
}

function isOld({ since }: SentNote): boolean {
  return Date.now() - Date.parse(since) > REPEATED_HOURS * 3_600_000;
}

/** Why a file is not printed, for people. @throws the error, unless it is final */
function reasonOf(error: unknown, file: string): string {
  if (error instanceof ServiceRefusal) {
    if (error.code === 'idempotency-key-reused') {
      return `The same was sent within the last ${KEY_HOURS} hours, with other copies, format or columns; nothing was printed now.`;
    }
    const places = error.places.map((place) => placeIn(place, file));
    return places.length === 0 ? error.message : `${places.join('\n')}\n[${error.code}]`;
  }
  if (error instanceof UnprintableFile || error instanceof CommandFailure || error instanceof Unknown)
    return error.message;
  throw error;
}

/** A place of the request as a place of the file. */
function placeIn({ pointer = '', detail = '' }: RefusedPlace, file: string): string {
  const [, , record, ...names] = pointer.split('/');
  const place = Number(record) + 1;
  if (!pointer.startsWith('/data/') || !Number.isInteger(place)) return `${pointer}: ${detail}`;
  if (isDocument(file)) return detail;
  const json = extname(file).toLowerCase() === '.json';
  const name = names.join('/').replaceAll('~1', '/').replaceAll('~0', '~');
  const field = name === '' ? '' : `, field ${JSON.stringify(name)}`;
  return `${json ? 'Record' : 'Row'} ${place}${json ? '' : ' below the heading'}${field}: ${detail}`;
}
