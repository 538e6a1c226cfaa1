/** The UPC-A that a UPC-E stands for, without check digit: by its last digit (GS1 General Specifications, UPC-E). */
export function expandUpce(digits: string): string {
  const system = digits.slice(0, 1);
  const six = digits.slice(1);
  const last = six.charAt(5);
  if (last <= '2') return `${system}${six.slice(0, 2)}${last}0000${six.slice(2, 5)}`;
  if (last === '3') return `${system}${six.slice(0, 3)}00000${six.slice(3, 5)}`;
  if (last === '4') return `${system}${six.slice(0, 4)}00000${six.charAt(4)}`;
  return `${system}${six.slice(0, 5)}0000${last}`;
}

/** The six digits of the UPC-E for a manufacturer's number and an item's, five digits each; undefined where there is none. */
export function zeroSuppressed(maker: string, item: string): string | undefined {
  if (/[0-2]00$/.test(maker) && item < '01000') return maker.slice(0, 2) + item.slice(2) + maker.slice(2, 3);
  if (maker.endsWith('00') && item < '00100') return `${maker.slice(0, 3)}${item.slice(3)}3`;
  if (maker.endsWith('0') && item < '00010') return `${maker.slice(0, 4)}${item.slice(4)}4`;
  if (item >= '00005' && item < '00010') return maker + item.slice(4);
  return undefined;
}
