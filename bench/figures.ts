/** Times and rates as numbers, and as the table that a person reads. */

/** The time in ms, by a clock that all processes and threads of this machine share. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Of times in ms. */
export interface Spread {
  p50: number;
  p99: number;
  count: number;
}

/** @throws Error for no times at all */
export function spread(times: readonly number[]): Spread {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  const [p50, p99] = [at(0.5), at(0.99)];
  if (p50 === undefined || p99 === undefined) throw new Error('nothing was measured');
  return { p50: round(p50), p99: round(p99), count: sorted.length };
}

export function perSecond(count: number, ms: number): number {
  return round((count * 1000) / ms);
}

/** Three significant digits. */
export function round(value: number): number {
  return Number(value.toPrecision(3));
}

/** `rows[0]` is the heading; the first column is flush left, the others flush right. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (row: readonly string[]) =>
    widths
      .map((width, column) => {
        const cell = row[column] ?? '';
        return column === 0 ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('   ')
      .trimEnd();
  const rule = widths.map((width) => '─'.repeat(width)).join('   ');
  return rows.flatMap((row, index) => (index === 1 ? [rule, line(row)] : [line(row)])).join('\n');
}
