/**
 * Rewrites binary graphics of a program in hexadecimal, with the same dots. There are two reasons: a program is text; and a
 * printer counts binary data by its length. If some of the data gets lost, the printer takes the commands behind it, and the
 * next label, for data.
 *
 * Source: ZPL II Programming Guide, ^GF.
 */
const BINARY = /\^GFB,(\d{1,8}),(\d{1,8}),(\d{1,8}),/gi;

/**
 * @param source one character for each byte
 * @returns the source with ^GFA for each ^GFB that has all of its data; other ^GFB stay
 */
export function hexGraphics(source: string): string {
  let text = '';
  let done = 0;
  for (;;) {
    BINARY.lastIndex = done;
    const match = BINARY.exec(source);
    if (match === null) break;
    const [head, sent, total, row] = match;
    const from = match.index + head.length;
    const end = from + Number(sent);
    const whole = sent === total && end <= source.length;
    text += source.slice(done, match.index);
    if (whole) {
      const data = Buffer.from(source.slice(from, end), 'latin1').toString('hex').toUpperCase();
      text += `^GFA,${total},${total},${row},${data}`;
    } else text += head;
    done = whole ? end : from;
  }
  return text + source.slice(done);
}
