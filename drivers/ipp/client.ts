/**
 * An IPP client (RFC 8011) with the operations that an agent needs from a printer or a print server.
 *
 * There are two kinds of failure. `TransportError`: there was no proper answer. `IppStatusError`: the printer answered that it
 * would not do it. For an operation that prints, only the second means that nothing was taken. After the first, a job may
 * exist, and has to be looked for.
 */
import { hostname } from 'node:os';
import { z } from 'zod';
import { TransportError } from '../connection.ts';
import type { Authorization } from './authorization.ts';
import { decodeIpp } from './decode.ts';
import { encodeIpp } from './encode.ts';
import { IPP_HTTP_LIMITS, type IppDocument, IppHttp, type IppHttpLimits } from './http.ts';
import {
  groupOf,
  type IppAttribute,
  IppCodecError,
  type IppMessage,
  type IppValue,
  numbersOf,
  stringsOf,
} from './message.ts';
import { isSuccessful, OPERATIONS, type OperationName, statusName } from './names.ts';
import type { IppTls } from './tls.ts';

const DEFAULT_IPP_PORT = 631;

/** The printer understood the request and refused it. */
export class IppStatusError extends Error {
  readonly status: number;
  readonly statusName: string;
  /** The printer may take the same request later, because it is busy or down, or does not accept jobs now. */
  readonly retrySafe: boolean;

  constructor(operation: OperationName, status: number, message: string | undefined) {
    super(`${operation}: ${statusName(status)}${message === undefined ? '' : ` (${message.slice(0, 200)})`}`);
    this.name = 'IppStatusError';
    this.status = status;
    this.statusName = statusName(status);
    this.retrySafe = RETRY_LATER.has(status);
  }
}

/** service-unavailable, temporary-error, not-accepting-jobs, busy, printer-is-deactivated, too-many-jobs. */
const RETRY_LATER: ReadonlySet<number> = new Set([0x0502, 0x0505, 0x0506, 0x0507, 0x050a, 0x050b]);

const usableId = z.int().min(1);

export interface IppClientOptions {
  /** A printer's clients share it, so that the printer need not challenge each of them. */
  authorization?: Authorization;
  limits?: Partial<IppHttpLimits>;
  /** For ipps: which certificates to trust. */
  tls?: IppTls;
  /** requesting-user-name; by default this host's name. */
  user?: string;
}

interface JobRequest {
  /** Shown in the printer's list of jobs. */
  name: string;
  /** Job template attributes: `copies`, `media-col`, …. */
  attributes?: IppAttribute[];
}

export class IppClient {
  /** The printer's URI as IPP names it, without credentials. */
  readonly uri: string;
  readonly #http: IppHttp;
  readonly #user: string;
  #requestId = 0;

  /**
   * @param uri `ipp://host[:631]/path` or `ipps://…`; credentials are not part of it
   * @throws TransportError `address-invalid`, which does not repeat the URI
   */
  constructor(uri: string, options: IppClientOptions = {}) {
    const { ipp, http } = addresses(uri);
    this.uri = ipp;
    this.#user = options.user ?? hostname();
    this.#http = new IppHttp(
      http,
      { ...IPP_HTTP_LIMITS, ...options.limits },
      options.authorization,
      options.tls,
    );
  }

  /** Closes its connections. */
  close(): void {
    this.#http.close();
  }

  /** @param requested attribute or group names; by default all */
  async getPrinterAttributes(signal: AbortSignal, requested: string[] = ['all']): Promise<IppAttribute[]> {
    const answer = await this.request('Get-Printer-Attributes', requestedAttributes(requested), signal);
    return groupOf(answer, 'printer')?.attributes ?? [];
  }

  /** The queues of a CUPS server, each as a list of attributes. */
  async cupsGetPrinters(signal: AbortSignal, requested: string[] = ['all']): Promise<IppAttribute[][]> {
    try {
      const answer = await this.request('CUPS-Get-Printers', requestedAttributes(requested), signal);
      return answer.groups.filter((group) => group.tag === 'printer').map((group) => group.attributes);
    } catch (error) {
      // CUPS says this if it has no queues at all.
      if (error instanceof IppStatusError && error.statusName === 'client-error-not-found') return [];
      throw error;
    }
  }

  /**
   * Makes a job without documents, so that the job has an ID before a byte of its document is sent.
   * @returns the ID
   */
  async createJob({ name, attributes }: JobRequest, signal: AbortSignal): Promise<number> {
    const operation = [one('job-name', { tag: 'name', value: name })];
    return jobIn('Create-Job', await this.request('Create-Job', operation, signal, attributes));
  }

  /** Sends the only document of a job. */
  async sendDocument(
    jobId: number,
    format: string,
    document: IppDocument,
    signal: AbortSignal,
  ): Promise<void> {
    const operation: IppAttribute[] = [
      jobIdAttribute(jobId),
      one('document-format', { tag: 'mimeMediaType', value: format }),
      one('last-document', { tag: 'boolean', value: true }),
    ];
    const answer = await this.request('Send-Document', operation, signal, undefined, document);
    jobIn('Send-Document', answer);
  }

  async getJobAttributes(jobId: number, signal: AbortSignal, requested = ['all']): Promise<IppAttribute[]> {
    const operation = [jobIdAttribute(jobId), ...requestedAttributes(requested)];
    const answer = await this.request('Get-Job-Attributes', operation, signal);
    return groupOf(answer, 'job')?.attributes ?? [];
  }

  /** The attributes of each job that has not ended. */
  async getJobs(signal: AbortSignal, requested: string[]): Promise<IppAttribute[][]> {
    const operation = [
      ...requestedAttributes(requested),
      one('which-jobs', { tag: 'keyword', value: 'not-completed' }),
    ];
    const answer = await this.request('Get-Jobs', operation, signal);
    return answer.groups.filter((group) => group.tag === 'job').map((group) => group.attributes);
  }

  async cancelJob(jobId: number, signal: AbortSignal): Promise<void> {
    await this.request('Cancel-Job', [jobIdAttribute(jobId)], signal);
  }

  /**
   * Sends any operation. The attributes that identify printer and requester are put first (RFC 8011 §4.1.4).
   * @throws TransportError as `IppHttp.post`, and `reply-invalid`: the answer is not IPP, or belongs to another request;
   *   IppStatusError; IppCodecError `value-invalid`
   */
  async request(
    operation: OperationName,
    operationAttributes: IppAttribute[],
    signal: AbortSignal,
    job: IppAttribute[] = [],
    document?: IppDocument,
  ): Promise<IppMessage> {
    this.#requestId = this.#requestId === 0x7fffffff ? 1 : this.#requestId + 1;
    const requestId = this.#requestId;
    const head = encodeIpp({
      version: { major: 2, minor: 0 },
      code: OPERATIONS[operation],
      requestId,
      groups: [
        {
          tag: 'operation',
          attributes: [
            one('attributes-charset', { tag: 'charset', value: 'utf-8' }),
            one('attributes-natural-language', { tag: 'naturalLanguage', value: 'en' }),
            one('printer-uri', { tag: 'uri', value: this.uri }),
            ...operationAttributes.filter((attribute) => attribute.name === 'job-id'),
            one('requesting-user-name', { tag: 'name', value: this.#user }),
            ...operationAttributes.filter((attribute) => attribute.name !== 'job-id'),
          ],
        },
        ...(job.length > 0 ? [{ tag: 'job' as const, attributes: job }] : []),
      ],
      data: Buffer.alloc(0),
    });
    const answer = decoded(await this.#http.post(head, document, signal));
    if (answer.requestId !== requestId) throw new TransportError('reply-invalid', 'to another request');
    if (!isSuccessful(answer.code)) {
      const said = stringsOf(groupOf(answer, 'operation')?.attributes ?? [], 'status-message')[0];
      throw new IppStatusError(operation, answer.code, said);
    }
    return answer;
  }
}

function decoded(body: Uint8Array): IppMessage {
  try {
    return decodeIpp(body);
  } catch (error) {
    if (!(error instanceof IppCodecError)) throw error;
    throw new TransportError('reply-invalid', error.message, { cause: error });
  }
}

/** The printer's URI in IPP, and its URL in HTTP. */
function addresses(uri: string): { ipp: string; http: URL } {
  const match = /^(ipps?):(\/\/.*)$/i.exec(uri);
  const scheme = match?.[1]?.toLowerCase();
  // Parsed as http, so that host and path are checked as such.
  const http = `${scheme === 'ipps' ? 'https' : 'http'}:${match?.[2]}`;
  if (scheme === undefined || !URL.canParse(http)) {
    throw new TransportError('address-invalid', 'expected ipp://host/path or ipps://host/path');
  }
  const url = new URL(http);
  if (url.username !== '' || url.password !== '') {
    throw new TransportError('address-invalid', 'credentials are not allowed in an ipp:// address');
  }
  // After parsing as http, a port 80 (or 443) that is written looks like one that is not. So the port is read from the text.
  const written = /^\/\/[^/?#]*:(\d+)(?:[/?#]|$)/.exec(match?.[2] ?? '')?.[1];
  url.port = written ?? String(DEFAULT_IPP_PORT);
  const port = written ?? String(DEFAULT_IPP_PORT);
  return { ipp: `${scheme}://${url.hostname}:${port}${url.pathname}${url.search}`, http: url };
}

function one(name: string, value: IppValue): IppAttribute {
  return { name, values: [value] };
}

function jobIdAttribute(jobId: number): IppAttribute {
  return one('job-id', { tag: 'integer', value: jobId });
}

function requestedAttributes(names: string[]): IppAttribute[] {
  return [{ name: 'requested-attributes', values: names.map((value) => ({ tag: 'keyword', value })) }];
}

/** @throws TransportError `reply-invalid`: the answer names no job */
function jobIn(operation: OperationName, answer: IppMessage): number {
  const result = usableId.safeParse(numbersOf(groupOf(answer, 'job')?.attributes ?? [], 'job-id')[0]);
  if (!result.success) throw new TransportError('reply-invalid', `${operation}: no usable job-id`);
  return result.data;
}
