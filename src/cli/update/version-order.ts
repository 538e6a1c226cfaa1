/** Which of two versions is the older one, as Semantic Versioning 2.0.0 §11 has it. */
export function isOlder(version: string, than: string): boolean {
  return compared(version, than) < 0;
}

function compared(a: string, b: string): number {
  const [left, right] = [parts(a), parts(b)];
  for (const at of [0, 1, 2]) {
    const difference = (left.numbers[at] ?? 0) - (right.numbers[at] ?? 0);
    if (difference !== 0) return difference;
  }
  // What comes before a release is older than the release.
  if (left.before.length === 0 || right.before.length === 0) return right.before.length - left.before.length;
  for (let at = 0; at < Math.max(left.before.length, right.before.length); at++) {
    const [one, other] = [left.before[at], right.before[at]];
    if (one === undefined || other === undefined) return one === undefined ? -1 : 1;
    const difference = comparedWord(one, other);
    if (difference !== 0) return difference;
  }
  return 0;
}

function comparedWord(a: string, b: string): number {
  const isNumber = (word: string) => /^\d+$/.test(word);
  if (isNumber(a) && isNumber(b)) return Number(a) - Number(b);
  if (isNumber(a) !== isNumber(b)) return isNumber(a) ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

function parts(version: string): { numbers: number[]; before: string[] } {
  const dash = version.indexOf('-');
  const [release, before] = dash < 0 ? [version, ''] : [version.slice(0, dash), version.slice(dash + 1)];
  return { numbers: release.split('.').map(Number), before: before === '' ? [] : before.split('.') };
}
