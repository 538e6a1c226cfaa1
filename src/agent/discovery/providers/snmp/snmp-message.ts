/**
 * SNMP messages of version 1 and 2c (RFC 1157 §4, RFC 3416 §3): GET and GETNEXT requests out, responses in.
 */
import { BerError, BerReader, integer, integerOf, objectId, oidOf, TAG, tlv } from './ber.ts';

type SnmpVersion = 'v1' | 'v2c';
const VERSIONS: Record<SnmpVersion, number> = { v1: 0, v2c: 1 };
const PDUS = { get: 0xa0, getNext: 0xa1 } as const;
const RESPONSE = 0xa2;
/** Most variables that are read of one response. */
const MOST_VARIABLES = 64;

interface SnmpVariable {
  oid: string;
  /** null: the device has no value (noSuchObject, noSuchInstance, endOfMibView), or one of a type that is not used here. */
  value: number | Buffer | null;
}

export interface SnmpAnswer {
  version: SnmpVersion;
  id: number;
  /** error-status: 0 noError, 2 noSuchName (v1: one of the variables is missing), …. */
  error: number;
  /** error-index: which variable the error is about, from 1. */
  index: number;
  variables: SnmpVariable[];
}

export function encodeRequest(
  version: SnmpVersion,
  community: string,
  id: number,
  pdu: keyof typeof PDUS,
  oids: readonly string[],
): Buffer {
  const variables = oids.map((oid) => tlv(TAG.sequence, objectId(oid), tlv(TAG.null)));
  return tlv(
    TAG.sequence,
    integer(VERSIONS[version]),
    tlv(TAG.octets, Buffer.from(community)),
    tlv(PDUS[pdu], integer(id), integer(0), integer(0), tlv(TAG.sequence, ...variables)),
  );
}

/**
 * @param isAwaited whether anybody waits for the response with this number; if not, its variables are not read
 * @returns undefined: nobody waits for the response
 * @throws BerError for bytes that are no response of one of the two versions
 */
export function decodeResponse(
  bytes: Uint8Array,
  isAwaited: (id: number) => boolean,
): SnmpAnswer | undefined {
  const message = new BerReader(bytes).inside(TAG.sequence);
  const version = versionOf(message.integer());
  message.expect(TAG.octets);
  const pdu = message.inside(RESPONSE);
  const id = pdu.integer();
  if (!isAwaited(id)) return undefined;
  const [error, index] = [pdu.integer(), pdu.integer()];
  const list = pdu.inside(TAG.sequence);
  const variables: SnmpVariable[] = [];
  while (!list.done) {
    if (variables.length >= MOST_VARIABLES) throw new BerError(`more than ${MOST_VARIABLES} variables`);
    const variable = list.inside(TAG.sequence);
    const oid = oidOf(variable.expect(TAG.oid));
    variables.push({ oid, value: contentsOf(variable.value()) });
  }
  return { version, id, error, index, variables };
}

function versionOf(number: number): SnmpVersion {
  if (number === VERSIONS.v1) return 'v1';
  if (number === VERSIONS.v2c) return 'v2c';
  throw new BerError('version');
}

function contentsOf({ tag, contents }: { tag: number; contents: Buffer }): SnmpVariable['value'] {
  switch (tag) {
    case TAG.integer:
    case TAG.counter:
    case TAG.gauge:
    case TAG.ticks:
      // If a device gets one variable wrong, it may still have the others right. So this does not throw.
      return contents.length >= 1 && contents.length <= 5 ? integerOf(contents) : null;
    case TAG.octets:
      return contents;
    default:
      return null;
  }
}
