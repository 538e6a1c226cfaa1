/**
 * A file that is the same for every caller: kept and compressed once, with an ETag. All readers share its bytes, so that
 * slow ones cost no memory.
 */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

export type AssetParts = { type: string; body: Uint8Array; gzip: Uint8Array; tag: string };

/** @param body its bytes, or the text */
export function assetParts(type: string, body: Uint8Array | string): AssetParts {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const tag = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  return { type, body: bytes, gzip: gzipSync(bytes, { level: 9 }), tag };
}

export class Asset {
  readonly #type: string;
  readonly #body: Buffer;
  readonly #gzip: Buffer;
  readonly #tag: string;

  constructor({ type, body, gzip, tag }: AssetParts) {
    this.#type = type;
    this.#body = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    this.#gzip = Buffer.from(gzip.buffer, gzip.byteOffset, gzip.byteLength);
    this.#tag = tag;
  }

  /** 200, or 304 where the caller has it. */
  send(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const gzip = takesGzip(request.headers['accept-encoding']);
    const tag = `"${this.#tag}${gzip ? '-gzip' : ''}"`;
    reply.headers({ etag: tag, vary: 'accept-encoding', 'cache-control': 'no-cache' });
    if (isKnown(request.headers['if-none-match'], tag)) return reply.code(304).send();
    if (gzip) reply.header('content-encoding', 'gzip');
    return reply.type(this.#type).send(gzip ? this.#gzip : this.#body);
  }
}

function takesGzip(header: string | string[] | undefined): boolean {
  return String(header ?? '')
    .split(',')
    .some((part) => {
      const [coding = '', ...parameters] = part.split(';').map((word) => word.trim().toLowerCase());
      return coding === 'gzip' && !parameters.some((parameter) => /^q=0(?:\.0{1,3})?$/.test(parameter));
    });
}

/** RFC 9110 §13.1.2: a weak comparison. */
function isKnown(header: string | undefined, tag: string): boolean {
  return (header ?? '').split(',').some((part) => {
    const known = part.trim();
    return known === '*' || known === tag || known === `W/${tag}`;
  });
}
