/**
 * `^SN`: field data that counts from label to label.
 *
 * Source: ZPL II Programming Guide, ^SN.
 */

/** A field whose number goes up (or down) from label to label. */
export interface Serial {
  readonly before: string;
  readonly digits: string;
  readonly after: string;
  readonly step: bigint;
  readonly zeros: boolean;
}

/** `^SNv,n,z`: the last digits in `v`, at most 12 of them, count by `n`. If `z` is Y, leading zeros are kept. */
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
