/** Reads labels as a person writes them, `3, 7-9`, counted from 1. */

/** @returns ranges counted from 0, without `to` itself; undefined for other texts or labels beyond `total` */
export function labelRanges(text: string, total: number): { from: number; to: number }[] | undefined {
  const ranges: { from: number; to: number }[] = [];
  for (const part of text.split(/[,;]/)) {
    const words = part.trim();
    if (words === '') continue;
    const [, first = '', , last = first] = /^(\d{1,6})( ?[-–] ?(\d{1,6}))?$/.exec(words) ?? [];
    const [from, to] = [Number(first), Number(last)];
    if (first === '' || from < 1 || to < from || to > total) return undefined;
    ranges.push({ from: from - 1, to });
  }
  return ranges;
}
