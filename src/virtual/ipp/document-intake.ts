/** Receives documents for jobs: which are accepted, how long they may be, and what aborts the job. */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type IppAttribute, valuesOf } from '../../../drivers/ipp/message.ts';
import { DOCUMENT_FORMATS } from './attributes.ts';
import type { IppJob, SpooledDocument } from './job.ts';
import { IppRefusal } from './refusal.ts';
import { detect } from './sheets.ts';
import type { IppSpool } from './spool.ts';

/** The rest of a request's body. */
export interface IppDocumentSource {
  /** Reads it all; `take` gets each piece's length and throws to refuse. @throws if the client breaks off */
  read(take: (bytes: number) => void): Promise<Buffer>;
}

export interface DocumentKind {
  readonly format: string;
  readonly zipped: boolean;
}

const unzip = promisify(gunzip);

/** The format and compression that a request names. @throws IppRefusal if they are not accepted */
export function documentKind(operation: readonly IppAttribute[], refused: readonly string[]): DocumentKind {
  const compression = valuesOf(operation, 'compression')[0];
  if (compression && !(compression.tag === 'keyword' && ['none', 'gzip'].includes(compression.value))) {
    throw new IppRefusal('client-error-compression-not-supported', 'none and gzip are supported');
  }
  const format = valuesOf(operation, 'document-format')[0];
  const asked = format?.tag === 'mimeMediaType' ? format.value.toLowerCase() : 'application/octet-stream';
  if (!DOCUMENT_FORMATS.some((each) => each === asked) || refused.includes(asked)) {
    const unsupported = format ? [{ name: 'document-format', values: [format] }] : [];
    throw new IppRefusal('client-error-document-format-not-supported', asked, unsupported);
  }
  return { format: asked, zipped: compression?.tag === 'keyword' && compression.value === 'gzip' };
}

/**
 * Reads the document into the job. Any error on the way ends the job.
 * @param limit most bytes, as received and when decompressed. @throws IppRefusal, or what `source` throws
 */
export async function receiveDocument(
  spool: IppSpool,
  job: IppJob,
  source: IppDocumentSource,
  { format, zipped }: DocumentKind,
  limit: number,
): Promise<void> {
  try {
    const bytes = await source.read((count) => {
      spool.receive(job, count);
      if (job.octets > limit) {
        throw new IppRefusal('client-error-request-entity-too-large', `more than ${limit} bytes`);
      }
    });
    // The job was canceled while the document came; the sender is told so.
    if (job.over) throw new IppRefusal('server-error-job-canceled', `job ${job.id} is ${job.state}`);
    const content = zipped ? await unzipped(bytes, limit) : bytes;
    spool.receive(job, content.length - bytes.length);
    job.document = documentOf(content, format);
  } catch (error) {
    if (!job.over) {
      const refused = error instanceof IppRefusal;
      const reasons = refused ? ['aborted-by-system'] : ['aborted-by-system', 'submission-interrupted'];
      spool.end(job, 'aborted', reasons, refused ? error.message : 'the connection broke');
    }
    throw error;
  }
  spool.received(job);
}

let last: Promise<unknown> = Promise.resolve();

/** One at a time: a few KB from each of many clients would be a document of the largest size each. */
async function unzipped(bytes: Buffer, limit: number): Promise<Buffer> {
  const result = last.then(() => unzip(bytes, { maxOutputLength: limit }));
  last = result.catch(() => undefined);
  try {
    return await result;
  } catch (error) {
    if (error instanceof RangeError) {
      throw new IppRefusal('client-error-request-entity-too-large', `more than ${limit} bytes`);
    }
    throw new IppRefusal('client-error-compression-error', 'not gzip');
  }
}

function documentOf(bytes: Buffer, format: string): SpooledDocument {
  if (format === 'application/pdf' || format === 'application/vnd.zebra-zpl') return { format, bytes };
  const detected = detect(bytes);
  if (!detected) {
    throw new IppRefusal('client-error-document-format-not-supported', 'neither PDF nor ZPL');
  }
  return { format: detected, bytes };
}
