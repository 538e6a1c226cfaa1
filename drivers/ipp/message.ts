/**
 * An IPP message as data, which the codec reads and writes.
 *
 * Every value carries its tag, because the tag is part of the meaning: `keyword` "none" and `name` "none" are different media.
 * If a value's tag is unknown, or its bytes are not what its tag promises (printers send dates of year 0 while their clock is
 * not set), the value is kept as it came (`raw`) and does not spoil the message.
 *
 * Source: RFC 8010 (encoding), RFC 8011 (model), RFC 3380 and PWG 5100.x for the further out-of-band values.
 */
import { defineFaults, titled } from '../../src/contract/define-faults.ts';

/** Delimiter tags (RFC 8010 §3.5.1, PWG 5100.5, 5100.22). */
export const GROUP_TAGS = {
  operation: 0x01,
  job: 0x02,
  printer: 0x04,
  unsupported: 0x05,
  subscription: 0x06,
  'event-notification': 0x07,
  resource: 0x08,
  document: 0x09,
  system: 0x0a,
} as const;
export type GroupTag = keyof typeof GROUP_TAGS;

/** Out-of-band value tags (RFC 8010 §3.5.2, RFC 3380 §8): they say why there is no value. */
export const OUT_OF_BAND_TAGS = {
  unsupported: 0x10,
  default: 0x11,
  unknown: 0x12,
  'no-value': 0x13,
  'not-settable': 0x15,
  'delete-attribute': 0x16,
  'admin-define': 0x17,
} as const;
export type OutOfBandTag = keyof typeof OUT_OF_BAND_TAGS;

/** Character-string value tags (RFC 8010 §3.5.2). */
export const STRING_TAGS = {
  text: 0x41,
  name: 0x42,
  keyword: 0x44,
  uri: 0x45,
  uriScheme: 0x46,
  charset: 0x47,
  naturalLanguage: 0x48,
  mimeMediaType: 0x49,
} as const;
export type StringTag = keyof typeof STRING_TAGS;

export const VALUE_TAGS = {
  ...OUT_OF_BAND_TAGS,
  integer: 0x21,
  boolean: 0x22,
  enum: 0x23,
  octetString: 0x30,
  dateTime: 0x31,
  resolution: 0x32,
  rangeOfInteger: 0x33,
  collection: 0x34,
  textWithLanguage: 0x35,
  nameWithLanguage: 0x36,
  ...STRING_TAGS,
} as const;

/** Tags that frame a collection (RFC 8010 §3.1.7). */
export const END_COLLECTION = 0x37;
export const MEMBER_NAME = 0x4a;
export const END_OF_ATTRIBUTES = 0x03;

export type IppValue =
  | { tag: 'integer' | 'enum'; value: number }
  | { tag: 'boolean'; value: boolean }
  | { tag: 'octetString'; value: Uint8Array }
  /** `offset`: the time zone that the value was written in, minutes east of UTC. */
  | { tag: 'dateTime'; value: Date; offset: number }
  | { tag: 'resolution'; x: number; y: number; unit: 'dpi' | 'dpcm' }
  | { tag: 'rangeOfInteger'; min: number; max: number }
  | { tag: 'collection'; value: IppAttribute[] }
  | { tag: 'textWithLanguage' | 'nameWithLanguage'; value: string; language: string }
  | { tag: StringTag; value: string }
  | { tag: OutOfBandTag }
  | { tag: 'raw'; code: number; value: Uint8Array };

/** A 1setOf has several values. There is always at least one. */
export interface IppAttribute {
  name: string;
  values: IppValue[];
}

export interface IppGroup {
  tag: GroupTag;
  attributes: IppAttribute[];
}

export interface IppMessage {
  version: { major: number; minor: number };
  /** operation-id of a request, status-code of a response. */
  code: number;
  requestId: number;
  groups: IppGroup[];
  /** What follows the attributes: the document. */
  data: Uint8Array;
}

export class IppCodecError extends defineFaults(
  'IppCodecError',
  {
    truncated: { title: 'The message ends too early' },
    malformed: { title: 'The message is not IPP' },
    'limit-exceeded': { title: 'The message has more than is allowed' },
    'value-invalid': { title: 'The value cannot be written as IPP' },
  },
  titled,
) {}

/** The first group of a kind, if there is one. */
export function groupOf(message: IppMessage, tag: GroupTag): IppGroup | undefined {
  return message.groups.find((group) => group.tag === tag);
}

/** The values of an attribute; none if it is missing. */
export function valuesOf(attributes: readonly IppAttribute[], name: string): IppValue[] {
  return attributes.find((attribute) => attribute.name === name)?.values ?? [];
}

/** The strings among an attribute's values: keywords, names, texts, URIs, …. */
export function stringsOf(attributes: readonly IppAttribute[], name: string): string[] {
  return valuesOf(attributes, name).flatMap((value) =>
    'value' in value && typeof value.value === 'string' ? [value.value] : [],
  );
}

/** The numbers among an attribute's values: integers and enums. */
export function numbersOf(attributes: readonly IppAttribute[], name: string): number[] {
  return valuesOf(attributes, name).flatMap((value) =>
    value.tag === 'integer' || value.tag === 'enum' ? [value.value] : [],
  );
}
