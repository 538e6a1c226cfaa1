/** The document in a request: which formats and compressions are accepted, and how long it may be. */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type IppAttribute, valuesOf } from '../../drivers/ipp/message.ts';
import { IppRefusal } from './refusal.ts';

/** The rest of a request's body. */
export interface IppDocumentSource {
  /** Reads it all; `take` gets each piece's length and throws to refuse. @throws if the client breaks off */
  read(take: (bytes: number) => void): Promise<Buffer>;
}

export interface DocumentKind {
  readonly format: string;
  readonly zipped: boolean;
}

/** What the server finds out by itself. */
export const ANY_FORMAT = 'application/octet-stream';
export const PWG_RASTER = 'image/pwg-raster';

const unzip = promisify(gunzip);

/** The format and compression that a request names. @throws IppRefusal if they are not accepted */
export function documentKind(
  operation: readonly IppAttribute[],
  accepts: (format: string) => boolean,
): DocumentKind {
  const compression = valuesOf(operation, 'compression')[0];
  if (compression && !(compression.tag === 'keyword' && ['none', 'gzip'].includes(compression.value))) {
    throw new IppRefusal('client-error-compression-not-supported', 'none and gzip are supported');
  }
  const format = valuesOf(operation, 'document-format')[0];
  const asked = format?.tag === 'mimeMediaType' ? format.value.toLowerCase() : ANY_FORMAT;
  if (!accepts(asked)) {
    const unsupported = format ? [{ name: 'document-format', values: [format] }] : [];
    throw new IppRefusal('client-error-document-format-not-supported', asked, unsupported);
  }
  return { format: asked, zipped: compression?.tag === 'keyword' && compression.value === 'gzip' };
}

/** @param limit most bytes of a document */
export function tooLarge(limit: number): IppRefusal {
  return new IppRefusal('client-error-request-entity-too-large', `more than ${limit} bytes`);
}

let last: Promise<unknown> = Promise.resolve();

/**
 * One at a time: a few KB from each of many clients would be a document of the largest size each.
 * @param limit most bytes of the result. @throws IppRefusal
 */
export async function unzipped(bytes: Buffer, limit: number): Promise<Buffer> {
  const result = last.then(() => unzip(bytes, { maxOutputLength: limit }));
  last = result.catch(() => undefined);
  try {
    return await result;
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(limit);
    throw new IppRefusal('client-error-compression-error', 'not gzip');
  }
}
