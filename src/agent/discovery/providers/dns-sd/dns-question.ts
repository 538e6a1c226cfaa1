/**
 * DNS questions on the wire (RFC 1035 §4.1): names as lists of labels.
 *
 * This is our own code, because `dns-packet` splits names at every dot. A printer may well be called "Zebra ZD421 (Fw. 84.20)".
 * Split at its dots, this would be another name, and the printer's records would never be found.
 */

const TYPES = { PTR: 12, SRV: 33, TXT: 16, A: 1, AAAA: 28 } as const;

export interface DnsQuestion {
  type: keyof typeof TYPES;
  labels: readonly string[];
}

const LONGEST_LABEL = 63;
const LONGEST_NAME = 255;
const IN = 1;
/** Questions in one packet. */
const MOST = 20;
const HEADER = 12;

/** Packets with all questions. A question is left out if its name or a label of it is too long, or a label is empty. */
export function encodeQuestions(questions: readonly DnsQuestion[]): Buffer[] {
  const encoded = questions.flatMap(encodeQuestion);
  const packets: Buffer[] = [];
  for (let at = 0; at < encoded.length; at += MOST) {
    const some = encoded.slice(at, at + MOST);
    const header = Buffer.alloc(HEADER);
    header.writeUInt16BE(some.length, 4);
    packets.push(Buffer.concat([header, ...some]));
  }
  return packets;
}

function encodeQuestion({ type, labels }: DnsQuestion): Buffer[] {
  const encoded = labels.map((label) => Buffer.from(label));
  if (encoded.some(({ length }) => length === 0 || length > LONGEST_LABEL)) return [];
  const name = Buffer.concat([
    ...encoded.flatMap((label) => [Buffer.from([label.length]), label]),
    Buffer.from([0]),
  ]);
  if (name.length > LONGEST_NAME) return [];
  const tail = Buffer.alloc(4);
  tail.writeUInt16BE(TYPES[type], 0);
  tail.writeUInt16BE(IN, 2);
  return [Buffer.concat([name, tail])];
}
