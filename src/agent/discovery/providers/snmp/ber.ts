/**
 * BER, as far as SNMP needs it (X.690 §8; RFC 3417 §8: definite lengths only).
 *
 * This is our own code, because a reply comes from a stranger: with `net-snmp` 3.29 one answer of 40 bytes (a Report PDU to a
 * v2c request) ends the process with an exception outside of any callback. Lengths are unsigned, and are checked against what
 * is left. So reading only moves forward.
 */

export class BerError extends Error {
  constructor(detail: string) {
    super(`Not the BER that was expected: ${detail}`);
    this.name = 'BerError';
  }
}

export const TAG = {
  integer: 0x02,
  octets: 0x04,
  null: 0x05,
  oid: 0x06,
  sequence: 0x30,
  counter: 0x41,
  gauge: 0x42,
  ticks: 0x43,
} as const;

/** Most parts of an object identifier (RFC 2578 §3.5). */
const LONGEST_OID = 128;

/** One value: tag, length, contents. Contents are under 64 KB. */
export function tlv(tag: number, ...contents: Uint8Array[]): Buffer {
  const body = Buffer.concat(contents);
  const { length } = body;
  const head = length < 0x80 ? [tag, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), body]);
}

/** @param value 0 to 2³¹ - 1 */
export function integer(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  let first = 0;
  // The shortest form: no more leading zeroes than the sign needs.
  while (first < 3 && bytes[first] === 0 && (bytes[first + 1] ?? 0) < 0x80) first += 1;
  return tlv(TAG.integer, bytes.subarray(first));
}

/** @param oid `1.3.6.1…`, at least two parts */
export function objectId(oid: string): Buffer {
  const [first = 0, second = 0, ...rest] = oid.split('.').map(Number);
  const parts = [first * 40 + second, ...rest].flatMap((part) => {
    const digits = [part % 0x80];
    for (let left = Math.floor(part / 0x80); left > 0; left = Math.floor(left / 0x80)) {
      digits.unshift((left % 0x80) + 0x80);
    }
    return digits;
  });
  return tlv(TAG.oid, Buffer.from(parts));
}

/** Reads values one after the other. Every method throws BerError and nothing else. */
export class BerReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** The next value's tag and contents. */
  value(): { tag: number; contents: Buffer } {
    const tag = this.#byte();
    const first = this.#byte();
    let length = first;
    if (first >= 0x80) {
      const count = first - 0x80;
      // 0 is the indefinite form. A length of more than four bytes is refused: a datagram needs no more than three.
      if (count === 0 || count > 4) throw new BerError('length');
      length = 0;
      for (let digit = 0; digit < count; digit += 1) length = length * 256 + this.#byte();
    }
    if (length > this.#bytes.length - this.#at) throw new BerError('truncated');
    const contents = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return { tag, contents };
  }

  /** The contents of the next value, which has this tag. */
  expect(tag: number): Buffer {
    const value = this.value();
    if (value.tag !== tag) throw new BerError(`tag 0x${value.tag.toString(16)}`);
    return value.contents;
  }

  /** A reader of the contents of the next value, which has this tag. */
  inside(tag: number): BerReader {
    return new BerReader(this.expect(tag));
  }

  integer(): number {
    return integerOf(this.expect(TAG.integer));
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new BerError('truncated');
    this.#at += 1;
    return byte;
  }
}

/** A signed number of at most 32 bits, or an unsigned one (Counter32, Gauge32) with a zero in front. */
export function integerOf(contents: Buffer): number {
  if (contents.length < 1 || contents.length > 5) throw new BerError('integer');
  return contents.readIntBE(0, contents.length);
}

export function oidOf(contents: Buffer): string {
  const parts: number[] = [];
  let part = 0;
  for (const byte of contents) {
    part = part * 0x80 + (byte & 0x7f);
    if (part > 0xffffffff || parts.length > LONGEST_OID) throw new BerError('object identifier');
    if (byte < 0x80) {
      parts.push(part);
      part = 0;
    }
  }
  const [joint, ...rest] = parts;
  if (joint === undefined || (contents.at(-1) ?? 0) >= 0x80) throw new BerError('object identifier');
  const first = Math.min(2, Math.floor(joint / 40));
  return [first, joint - first * 40, ...rest].join('.');
}
