/**
 * Reads the body of an IPP request: the attributes, then the document, which may be long or never end.
 *
 * The end of the attributes is found while they arrive, by their lengths alone, so that a request can be
 * refused before its document is read. Each wait has a time limit, each part a size limit.
 */
import { END_OF_ATTRIBUTES } from '../../drivers/ipp/message.ts';

interface BodyHost {
  /** Cuts the connection. */
  cut(): void;
  /** Waits until it is this body's turn: the thread serves others too. */
  inTurn(): Promise<void>;
  /** Called with each piece; returns as much of it as is to be taken. */
  received(bytes: Buffer): Buffer;
}

export interface BodyLimits {
  /** Most bytes of attributes. */
  readonly attributes: number;
  /** Most bytes read and thrown away after a request is refused. */
  readonly discarded: number;
  /** Longest time, ms, in which no byte comes. */
  readonly idle: number;
}

const HEADER_LENGTH = 8;
const FIRST_VALUE_TAG = 0x10;

/**
 * Goes on from the tag at `at`, over all complete values, to the next tag: the end tag, or one whose value
 * has not arrived completely. Every value is a tag, a name and a value with their lengths (RFC 8010 §3.1).
 */
function lastTag(bytes: Buffer, at: number): number {
  for (;;) {
    const tag = bytes[at];
    if (tag === undefined || tag === END_OF_ATTRIBUTES) return at;
    if (tag < FIRST_VALUE_TAG) {
      at++;
      continue;
    }
    if (at + 3 > bytes.length) return at;
    const value = at + 3 + bytes.readUInt16BE(at + 1);
    if (value + 2 > bytes.length) return at;
    const next = value + 2 + bytes.readUInt16BE(value);
    if (next > bytes.length) return at;
    at = next;
  }
}

/** Pieces are as small as the client likes; each by itself would take more memory than its bytes. */
class GrowingBuffer {
  #bytes = Buffer.alloc(4096);
  #length = 0;

  get read(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  add(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (length > this.#bytes.length) {
      this.#bytes = Buffer.concat([this.read], Math.max(length, 2 * this.#bytes.length));
    }
    piece.copy(this.#bytes, this.#length);
    this.#length = length;
  }
}

/** The client sent too many attributes, too slowly, or not to the end. */
export class BodyError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BodyError';
  }
}

export class IppBody {
  readonly #pieces: AsyncIterator<Buffer>;
  readonly #limits: BodyLimits;
  readonly #host: BodyHost;
  /** The part of the document that was read along with the attributes. */
  #rest: Buffer = Buffer.alloc(0);
  #ended = false;
  #cut = false;

  constructor(pieces: AsyncIterable<Buffer>, limits: BodyLimits, host: BodyHost) {
    this.#pieces = pieces[Symbol.asyncIterator]();
    this.#limits = limits;
    this.#host = host;
  }

  /** Reads up to the end of the attributes, or everything if they do not end. @throws BodyError */
  async attributes(): Promise<Buffer> {
    const bytes = new GrowingBuffer();
    let at = HEADER_LENGTH;
    for (;;) {
      const piece = await this.#next();
      if (!piece) return bytes.read;
      bytes.add(piece);
      const known = bytes.read;
      at = lastTag(known, at);
      if (known[at] === END_OF_ATTRIBUTES) {
        this.#rest = known.subarray(at + 1);
        return known.subarray(0, at + 1);
      }
      if (known.length > this.#limits.attributes) {
        throw new BodyError(`more than ${this.#limits.attributes} bytes of attributes`);
      }
    }
  }

  /** Reads the document; calls `take` with each piece's length. @throws BodyError, or what `take` throws */
  async document(take: (bytes: number) => void): Promise<Buffer> {
    const bytes = new GrowingBuffer();
    let piece: Buffer | undefined = this.#rest;
    this.#rest = Buffer.alloc(0);
    while (piece) {
      take(piece.length);
      bytes.add(piece);
      piece = await this.#next();
    }
    return bytes.read;
  }

  /** Reads the rest of the body, so that the client can read the answer; breaks off one that is too long. */
  async discard(): Promise<void> {
    let left = this.#limits.discarded;
    for (let piece = await this.#next(); piece; piece = await this.#next()) {
      left -= piece.length;
      if (left < 0) {
        this.#host.cut();
        return;
      }
    }
  }

  async #next(): Promise<Buffer | undefined> {
    await this.#host.inTurn();
    // Checked first: the end of the body may have come together with the piece that was cut.
    if (this.#cut) throw new BodyError('the connection was cut');
    if (this.#ended) return undefined;
    const timer = setTimeout(() => this.#host.cut(), this.#limits.idle);
    try {
      const { value, done } = await this.#pieces.next();
      this.#ended = done === true;
      if (done) return undefined;
      const taken = this.#host.received(value);
      this.#cut = taken.length < value.length;
      return taken;
    } catch (error) {
      this.#ended = true;
      throw new BodyError(error instanceof Error ? error.message : String(error), { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }
}
