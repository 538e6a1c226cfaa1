/**
 * Field data on its way to the rasteriser: ASCII, with every byte that is not plain text as an `^FH` escape; and
 * `^SN`, field data that counts.
 *
 * Source: ZPL II Programming Guide, ^FD ^FH ^SN.
 */

const INDICATORS = '_|@#$%=+;!"\'[]{}()<>abcdefghijklmnopqrstuvwxyz\\';

/**
 * `^FD…` (or `^FV…`) that reads the same under any prefix and delimiter.
 * `hex`: the indicator of the `^FH` in force for this field, if there is one. Line ends in data mean nothing.
 */
export function fieldData(name: string, data: Buffer, hex: string | undefined): string {
  const indicator = hex ?? [...INDICATORS].find((candidate) => !data.includes(candidate)) ?? '_';
  let escaped = hex !== undefined;
  let out = '';
  for (const byte of data) {
    if (byte === 0x0a || byte === 0x0d) continue;
    const plain = byte >= 0x20 && byte < 0x7e && byte !== 0x5e;
    if (plain) out += String.fromCharCode(byte);
    else {
      out += indicator + byte.toString(16).toUpperCase().padStart(2, '0');
      escaped = true;
    }
  }
  return `${escaped ? `^FH${indicator}` : ''}^${name}${out}`;
}

/** A field whose number goes up (or down) from label to label. */
export interface Serial {
  readonly before: string;
  readonly digits: string;
  readonly after: string;
  readonly step: bigint;
  readonly zeros: boolean;
}

/** `^SNv,n,z`: the right-most digits of `v`, at most 12, count by `n`; `z` = Y keeps leading zeros. */
export function serialField(params: string): Serial {
  const [start = '1', step = '1', zeros = 'N'] = params.split(',');
  const match = /(\d{1,12})(\D*)$/.exec(start);
  const by = /^-?\d{1,12}$/.test(step.trim()) ? BigInt(step.trim()) : 1n;
  return {
    before: start.slice(0, match?.index),
    digits: match?.[1] ?? '',
    after: match?.[2] ?? '',
    step: by,
    zeros: zeros.trim().toUpperCase() === 'Y',
  };
}

/** The `^FD` of the `index`th number, from 0. */
export function serialValue(serial: Serial, index: number): string {
  if (serial.digits === '') return `^FD${serial.before}`;
  const size = serial.digits.length;
  const modulus = 10n ** BigInt(size);
  const value = (((BigInt(serial.digits) + serial.step * BigInt(index)) % modulus) + modulus) % modulus;
  const digits = value.toString();
  return `^FD${serial.before}${serial.zeros ? digits.padStart(size, '0') : digits}${serial.after}`;
}
