/** Encodes IPP messages (RFC 8010 §3). */
import {
  END_COLLECTION,
  END_OF_ATTRIBUTES,
  GROUP_TAGS,
  type IppAttribute,
  IppCodecError,
  type IppMessage,
  type IppValue,
  MEMBER_NAME,
  VALUE_TAGS,
} from './message.ts';

/** Lengths are SIGNED-SHORT on the wire (RFC 8010 §3.2), and never negative. */
const LONGEST = 0x7fff;
const DEEPEST = 16;
const NOTHING = Buffer.alloc(0);

/**
 * The bytes of a message, `data` included.
 * @throws IppCodecError `value-invalid`
 */
export function encodeIpp(message: IppMessage): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt8(inRange(message.version.major, 0, 255), 0);
  head.writeUInt8(inRange(message.version.minor, 0, 255), 1);
  head.writeUInt16BE(inRange(message.code, 0, 0xffff), 2);
  head.writeInt32BE(inRange(message.requestId, 0, 0x7fffffff), 4);
  const parts: Uint8Array[] = [head];
  for (const group of message.groups) {
    parts.push(Buffer.of(GROUP_TAGS[group.tag]));
    for (const attribute of group.attributes) writeAttribute(parts, attribute);
  }
  parts.push(Buffer.of(END_OF_ATTRIBUTES), message.data);
  return Buffer.concat(parts);
}

function writeAttribute(parts: Uint8Array[], { name, values }: IppAttribute): void {
  if (name === '' || values.length === 0) throw invalid('an attribute needs a name and a value');
  values.forEach((value, index) => {
    writeValue(parts, index === 0 ? Buffer.from(name) : NOTHING, value, 1);
  });
}

function writeValue(parts: Uint8Array[], name: Uint8Array, value: IppValue, depth: number): void {
  if (value.tag !== 'collection') {
    const code = value.tag === 'raw' ? rawCode(value.code) : VALUE_TAGS[value.tag];
    parts.push(Buffer.of(code), lengthOf(name), name, ...sized(bytesOf(value)));
    return;
  }
  if (depth > DEEPEST) throw invalid(`collections nested over ${DEEPEST} deep`);
  parts.push(Buffer.of(VALUE_TAGS.collection), lengthOf(name), name, lengthOf(NOTHING));
  for (const member of value.value) {
    if (member.name === '' || member.values.length === 0) throw invalid('a member needs a name and a value');
    parts.push(Buffer.of(MEMBER_NAME), lengthOf(NOTHING), ...sized(Buffer.from(member.name)));
    for (const each of member.values) writeValue(parts, NOTHING, each, depth + 1);
  }
  parts.push(Buffer.of(END_COLLECTION), lengthOf(NOTHING), lengthOf(NOTHING));
}

/** Takes any value tag, but not those that frame collections, because these would change the structure of the message. */
function rawCode(code: number): number {
  if (code === VALUE_TAGS.collection || code === END_COLLECTION || code === MEMBER_NAME) {
    throw invalid(`a raw value with tag 0x${code.toString(16)}`);
  }
  return inRange(code, 0x10, 0xff);
}

function bytesOf(value: Exclude<IppValue, { tag: 'collection' }>): Uint8Array {
  switch (value.tag) {
    case 'integer':
    case 'enum':
      return int32(value.value);
    case 'boolean':
      return Buffer.of(value.value ? 1 : 0);
    case 'octetString':
    case 'raw':
      return value.value;
    case 'dateTime':
      return dateTime(value.value, value.offset);
    case 'resolution':
      return Buffer.concat([int32(value.x), int32(value.y), Buffer.of(value.unit === 'dpi' ? 3 : 4)]);
    case 'rangeOfInteger':
      return Buffer.concat([int32(value.min), int32(value.max)]);
    case 'textWithLanguage':
    case 'nameWithLanguage':
      return Buffer.concat([...sized(Buffer.from(value.language)), ...sized(Buffer.from(value.value))]);
    case 'text':
    case 'name':
    case 'keyword':
    case 'uri':
    case 'uriScheme':
    case 'charset':
    case 'naturalLanguage':
    case 'mimeMediaType':
      return Buffer.from(value.value);
    default:
      return NOTHING;
  }
}

function dateTime(at: Date, offset: number): Buffer {
  const local = new Date(at.getTime() + inRange(offset, -899, 899) * 60_000);
  const east = Math.abs(offset);
  const bytes = Buffer.alloc(11);
  bytes.writeUInt16BE(inRange(local.getUTCFullYear(), 0, 0xffff), 0);
  bytes[2] = local.getUTCMonth() + 1;
  bytes[3] = local.getUTCDate();
  bytes[4] = local.getUTCHours();
  bytes[5] = local.getUTCMinutes();
  bytes[6] = local.getUTCSeconds();
  bytes[7] = Math.floor(local.getUTCMilliseconds() / 100);
  bytes[8] = offset < 0 ? 0x2d : 0x2b;
  bytes[9] = Math.floor(east / 60);
  bytes[10] = east % 60;
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(inRange(value, -0x80000000, 0x7fffffff));
  return bytes;
}

function sized(bytes: Uint8Array): [Buffer, Uint8Array] {
  return [lengthOf(bytes), bytes];
}

function lengthOf(bytes: Uint8Array): Buffer {
  if (bytes.length > LONGEST) throw invalid(`${bytes.length} bytes in one value, at most ${LONGEST}`);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return length;
}

function inRange(value: number, min: number, max: number): number {
  if (!Number.isInteger(value) || value < min || value > max) {
    throw invalid(`expected a whole number from ${min} to ${max}`);
  }
  return value;
}

function invalid(detail: string): IppCodecError {
  return new IppCodecError('value-invalid', detail);
}
