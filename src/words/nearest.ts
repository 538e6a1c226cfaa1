/** Guesses which known name a misspelt one was meant to be. */

/** A longer text is not looked at. */
const LONGEST = 40;

/** Undefined where no name differs by punctuation only, or by at most every third letter. */
export function nearest<N extends string>(written: string, names: readonly N[]): N | undefined {
  const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');
  const wanted = plain(written.slice(0, LONGEST + 1));
  if (wanted === '' || written.length > LONGEST) return undefined;
  const ranked = names
    .map((name) => ({ name, distance: distance(wanted, plain(name)) }))
    .toSorted((a, b) => a.distance - b.distance);
  const [best] = ranked;
  return best !== undefined && best.distance <= Math.floor(wanted.length / 3) ? best.name : undefined;
}

/** Letters to add, leave out or change (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
