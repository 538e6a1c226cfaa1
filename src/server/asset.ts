/**
 * A file that is the same for every caller: kept and compressed once, with an ETag. All readers share its
 * bytes, so that slow readers cost no memory.
 */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** The content codings that a file may be sent in, the one with the smallest result first. */
const CODINGS = ['br', 'gzip'] as const;
type Coding = (typeof CODINGS)[number];

export type AssetParts = {
  type: string;
  body: Uint8Array;
  tag: string;
  gzip?: Uint8Array;
  br?: Uint8Array;
  /** The file's name contains a hash of its content: a browser that has the file need not ask again. */
  lasting?: true;
};

/** @param body its bytes, or the text */
export function assetParts(type: string, body: Uint8Array | string): AssetParts & { gzip: Uint8Array } {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return { type, body: bytes, gzip: gzipSync(bytes, { level: 9 }), tag: tagOf(bytes) };
}

/** The part of an ETag that is the same for all codings. */
export function tagOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('base64url').slice(0, 22);
}

export class Asset {
  readonly #type: string;
  readonly #body: Buffer;
  readonly #coded: ReadonlyMap<Coding, Buffer>;
  readonly #tag: string;
  readonly #caching: string;

  constructor({ type, body, tag, lasting, ...coded }: AssetParts) {
    this.#type = type;
    this.#body = view(body);
    this.#coded = new Map(
      CODINGS.flatMap((coding) => {
        const bytes = coded[coding];
        return bytes === undefined ? [] : [[coding, view(bytes)]];
      }),
    );
    this.#tag = tag;
    this.#caching = lasting ? 'public, max-age=31536000, immutable' : 'no-cache';
  }

  /** Answers 200 with the file, or 304 where the caller has it already. */
  send(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const taken = codingsIn(request.headers['accept-encoding']);
    const coding = CODINGS.find((each) => taken.includes(each) && this.#coded.has(each));
    const tag = `"${this.#tag}${coding === undefined ? '' : `-${coding}`}"`;
    reply.headers({ etag: tag, vary: 'accept-encoding', 'cache-control': this.#caching });
    if (isKnown(request.headers['if-none-match'], tag)) return reply.code(304).send();
    if (coding !== undefined) reply.header('content-encoding', coding);
    const coded = coding === undefined ? undefined : this.#coded.get(coding);
    return reply.type(this.#type).send(coded ?? this.#body);
  }
}

/** A Buffer on the same bytes, not a copy. */
function view({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function codingsIn(header: string | string[] | undefined): string[] {
  return String(header ?? '')
    .split(',')
    .flatMap((part) => {
      const [coding = '', ...parameters] = part.split(';').map((word) => word.trim().toLowerCase());
      return parameters.some((parameter) => /^q=0(?:\.0{1,3})?$/.test(parameter)) ? [] : [coding];
    });
}

/** RFC 9110 §13.1.2: a weak comparison. */
function isKnown(header: string | undefined, tag: string): boolean {
  return (header ?? '').split(',').some((part) => {
    const known = part.trim();
    return known === '*' || known === tag || known === `W/${tag}`;
  });
}
