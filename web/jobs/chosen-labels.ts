/** The labels that somebody chooses of a job, as the text of a field and as pictures: both are the same choice. */
import { labelRanges } from '../../src/words/label-ranges.ts';

/** From the first label to the one behind the last, from 0; in their order, none twice. */
export type Ranges = readonly { from: number; to: number }[];

/** @returns undefined for a text that names no labels of the job */
export function chosenIn(text: string, total: number): Ranges | undefined {
  const ranges = labelRanges(text, total);
  return ranges && joined(ranges);
}

/** As a person writes it: `3, 7-9`. */
export function textOf(ranges: Ranges): string {
  return ranges.map(({ from, to }) => (to - from === 1 ? String(to) : `${from + 1}-${to}`)).join(', ');
}

export function countOf(ranges: Ranges): number {
  return ranges.reduce((sum, { from, to }) => sum + to - from, 0);
}

export function has(ranges: Ranges, label: number): boolean {
  return ranges.some(({ from, to }) => from <= label && label < to);
}

/** The choice with this label, or without it if it was in it. */
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
