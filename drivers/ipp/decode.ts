/**
 * Decodes IPP messages (RFC 8010 §3).
 *
 * The bytes are untrusted. Lengths are unsigned and checked against what is left. So the cursor only moves forward, and every
 * round of every loop consumes at least one byte. The number of values, the depth of collections and the size of the message
 * have limits. The result is always a message or an `IppCodecError`.
 */
import {
  END_COLLECTION,
  END_OF_ATTRIBUTES,
  GROUP_TAGS,
  type GroupTag,
  type IppAttribute,
  IppCodecError,
  type IppGroup,
  type IppMessage,
  type IppValue,
  MEMBER_NAME,
  OUT_OF_BAND_TAGS,
  STRING_TAGS,
  VALUE_TAGS,
} from './message.ts';

export interface IppLimits {
  /** The most bytes of attributes. What follows the attributes is not counted. */
  bytes: number;
  /** The most values in all, including those in collections. */
  values: number;
  /** How deep collections may be nested. */
  depth: number;
}

/** 500 printers with all their attributes are about 5 MB and 150,000 values. */
const IPP_LIMITS: IppLimits = { bytes: 16 * 1024 * 1024, values: 500_000, depth: 16 };

/** The lowest tag of a value. Tags below it are delimiters. */
const FIRST_VALUE_TAG = 0x10;

function inverse<Name extends string>(table: Readonly<Record<Name, number>>): Map<number, Name> {
  const names = Object.keys(table) as Name[];
  return new Map(names.map((name) => [table[name], name]));
}

const GROUPS = inverse<GroupTag>(GROUP_TAGS);
const OUT_OF_BAND = inverse(OUT_OF_BAND_TAGS);
const STRINGS = inverse(STRING_TAGS);

/**
 * Reads one message. What follows its attributes becomes `data` (a view, not a copy).
 * @throws IppCodecError `truncated`, `malformed`, `limit-exceeded`
 */
export function decodeIpp(bytes: Uint8Array, limits: IppLimits = IPP_LIMITS): IppMessage {
  return new Decoder(bytes, limits).message();
}

class Decoder {
  readonly #bytes: Buffer;
  readonly #limits: IppLimits;
  #at = 0;
  #values = 0;

  constructor(bytes: Uint8Array, limits: IppLimits) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#limits = limits;
  }

  message(): IppMessage {
    const version = { major: this.#uint(1), minor: this.#uint(1) };
    const code = this.#uint(2);
    const requestId = this.#take(4).readInt32BE();
    const groups: IppGroup[] = [];
    for (;;) {
      const tag = this.#uint(1);
      if (tag === END_OF_ATTRIBUTES) break;
      if (tag < FIRST_VALUE_TAG) {
        const name = GROUPS.get(tag);
        if (name === undefined) throw this.#malformed(`delimiter 0x${tag.toString(16)}`);
        groups.push({ tag: name, attributes: [] });
        this.#count();
      } else {
        const group = groups.at(-1);
        if (!group) throw this.#malformed('an attribute before any group');
        this.#attribute(tag, group);
      }
    }
    return { version, code, requestId, groups, data: this.#bytes.subarray(this.#at) };
  }

  /** Reads a new attribute, or, if it has no name, one more value of the last attribute. */
  #attribute(tag: number, group: IppGroup): void {
    const name = this.#name();
    const value = this.#value(tag, 1);
    if (name !== '') {
      group.attributes.push({ name, values: [value] });
      return;
    }
    const last = group.attributes.at(-1);
    if (!last) throw this.#malformed('a further value without an attribute');
    last.values.push(value);
  }

  #value(tag: number, depth: number): IppValue {
    this.#count();
    if (tag === END_COLLECTION || tag === MEMBER_NAME)
      throw this.#malformed('a member outside of a collection');
    const bytes = this.#take(this.#uint(2));
    if (tag !== VALUE_TAGS.collection)
      return plainValue(tag, bytes) ?? { tag: 'raw', code: tag, value: bytes };
    // The value of the begin tag itself is empty, or must be ignored.
    if (depth > this.#limits.depth) {
      throw new IppCodecError('limit-exceeded', `collections nested over ${this.#limits.depth} deep`);
    }
    return { tag: 'collection', value: this.#members(depth) };
  }

  /** Reads the members of a collection up to its end tag. A member is a name, and then its values, which have no name. */
  #members(depth: number): IppAttribute[] {
    const members: IppAttribute[] = [];
    for (;;) {
      const tag = this.#uint(1);
      if (tag < FIRST_VALUE_TAG) throw this.#malformed('a collection without end');
      if (this.#uint(2) !== 0) throw this.#malformed('a named value in a collection');
      if (tag === END_COLLECTION) {
        this.#take(this.#uint(2));
        break;
      }
      if (tag === MEMBER_NAME) {
        this.#count();
        const name = this.#take(this.#uint(2)).toString('utf8');
        if (name === '') throw this.#malformed('a member without a name');
        members.push({ name, values: [] });
      } else {
        const value = this.#value(tag, depth + 1);
        const last = members.at(-1);
        if (!last) throw this.#malformed('a value before any member');
        last.values.push(value);
      }
    }
    if (members.some((member) => member.values.length === 0))
      throw this.#malformed('a member without a value');
    return members;
  }

  #name(): string {
    return this.#take(this.#uint(2)).toString('utf8');
  }

  #uint(size: 1 | 2): number {
    return this.#take(size).readUIntBE(0, size);
  }

  #take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#limits.bytes) {
      throw new IppCodecError('limit-exceeded', `more than ${this.#limits.bytes} bytes of attributes`);
    }
    if (end > this.#bytes.length) {
      throw new IppCodecError('truncated', `${this.#bytes.length} bytes, at least ${end} needed`);
    }
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  #count(): void {
    this.#values++;
    if (this.#values > this.#limits.values) {
      throw new IppCodecError('limit-exceeded', `more than ${this.#limits.values} values`);
    }
  }

  #malformed(what: string): IppCodecError {
    return new IppCodecError('malformed', `${what}, before byte ${this.#at}`);
  }
}

/** Decodes a value that is not a collection. Undefined: its bytes do not fit the tag. */
function plainValue(tag: number, bytes: Buffer): IppValue | undefined {
  const string = STRINGS.get(tag);
  if (string !== undefined) return { tag: string, value: bytes.toString('utf8') };
  const outOfBand = OUT_OF_BAND.get(tag);
  if (outOfBand !== undefined) return bytes.length === 0 ? { tag: outOfBand } : undefined;
  switch (tag) {
    case VALUE_TAGS.integer:
      return bytes.length === 4 ? { tag: 'integer', value: bytes.readInt32BE() } : undefined;
    case VALUE_TAGS.enum:
      return bytes.length === 4 ? { tag: 'enum', value: bytes.readInt32BE() } : undefined;
    case VALUE_TAGS.boolean: {
      const byte = bytes.length === 1 ? bytes[0] : undefined;
      return byte === 0 || byte === 1 ? { tag: 'boolean', value: byte === 1 } : undefined;
    }
    case VALUE_TAGS.octetString:
      return { tag: 'octetString', value: bytes };
    case VALUE_TAGS.dateTime:
      return dateTime(bytes);
    case VALUE_TAGS.resolution: {
      const unit = bytes.length === 9 ? bytes[8] : undefined;
      if (unit !== 3 && unit !== 4) return undefined;
      const [x, y] = [bytes.readInt32BE(0), bytes.readInt32BE(4)];
      return { tag: 'resolution', x, y, unit: unit === 3 ? 'dpi' : 'dpcm' };
    }
    case VALUE_TAGS.rangeOfInteger:
      if (bytes.length !== 8) return undefined;
      return { tag: 'rangeOfInteger', min: bytes.readInt32BE(0), max: bytes.readInt32BE(4) };
    case VALUE_TAGS.textWithLanguage:
      return withLanguage('textWithLanguage', bytes);
    case VALUE_TAGS.nameWithLanguage:
      return withLanguage('nameWithLanguage', bytes);
    default:
      return undefined;
  }
}

/** DateAndTime (RFC 2579): a local time, and its distance from UTC. Months count from 1. */
function dateTime(bytes: Buffer): IppValue | undefined {
  if (bytes.length !== 11) return undefined;
  const [
    month = 0,
    day = 0,
    hour = 0,
    minute = 0,
    second = 0,
    tenth = 0,
    sign = 0,
    east = 0,
    eastMinutes = 0,
  ] = bytes.subarray(2);
  if (sign !== 0x2b && sign !== 0x2d) return undefined;
  if (hour > 23 || minute > 59 || second > 60 || tenth > 9 || east > 14 || eastMinutes > 59) return undefined;
  // The constructor is not used, because it takes the years 0 to 99 for 1900 to 1999.
  const local = new Date(0);
  local.setUTCFullYear(bytes.readUInt16BE(0), month - 1, day);
  // If a month or day does not exist, `setUTCFullYear` goes on to the next one.
  if (local.getUTCMonth() !== month - 1 || local.getUTCDate() !== day) return undefined;
  local.setUTCHours(hour, minute, second, tenth * 100);
  const offset = (east * 60 + eastMinutes) * (sign === 0x2b ? 1 : -1);
  return { tag: 'dateTime', value: new Date(local.getTime() - offset * 60_000), offset: offset || 0 };
}

function withLanguage(tag: 'textWithLanguage' | 'nameWithLanguage', bytes: Buffer): IppValue | undefined {
  if (bytes.length < 4) return undefined;
  const languageEnd = 2 + bytes.readUInt16BE(0);
  if (languageEnd + 2 > bytes.length) return undefined;
  if (languageEnd + 2 + bytes.readUInt16BE(languageEnd) !== bytes.length) return undefined;
  return {
    tag,
    language: bytes.toString('utf8', 2, languageEnd),
    value: bytes.toString('utf8', languageEnd + 2),
  };
}
