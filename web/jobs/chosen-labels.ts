/** Which labels of a job somebody has chosen. They can type numbers or click pictures; both change the same choice. */
import { labelRanges } from '../../src/words/label-ranges.ts';

/** Labels counted from 0; `to` is the first label after the range. The ranges are in order, and no label is in two of them. */
export type Ranges = readonly { from: number; to: number }[];

/** @returns undefined if the text does not name labels of the job */
export function chosenIn(text: string, total: number): Ranges | undefined {
  const ranges = labelRanges(text, total);
  return ranges && joined(ranges);
}

/** The choice as a person would type it: `3, 7-9`. */
export function textOf(ranges: Ranges): string {
  return ranges.map(({ from, to }) => (to - from === 1 ? String(to) : `${from + 1}-${to}`)).join(', ');
}

export function countOf(ranges: Ranges): number {
  return ranges.reduce((sum, { from, to }) => sum + to - from, 0);
}

export function has(ranges: Ranges, label: number): boolean {
  return ranges.some(({ from, to }) => from <= label && label < to);
}

/** Adds the label to the choice, or removes it if it is already in it. */
export function toggled(ranges: Ranges, label: number): Ranges {
  if (!has(ranges, label)) return joined([...ranges, { from: label, to: label + 1 }]);
  return ranges.flatMap(({ from, to }) =>
    label < from || label >= to
      ? [{ from, to }]
      : [
          { from, to: label },
          { from: label + 1, to },
        ].filter((part) => part.from < part.to),
  );
}

function joined(ranges: Ranges): Ranges {
  const made: { from: number; to: number }[] = [];
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = made.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else made.push({ from, to });
  }
  return made;
}
