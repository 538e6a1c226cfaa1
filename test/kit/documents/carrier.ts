/** A page as carriers send it: a label of 4 × 6 inches somewhere on a letter page. */
import bwipjs from 'bwip-js/node';

export const MM = 72 / 25.4;
export const LETTER = { width: 612, height: 792 };

/** Operators of a carrier's label, 4 × 6 inches with its bottom left corner at (0, 0); modules of three dots. */
export function label(tracking: string): string {
  const [{ sbs }] = bwipjs.raw('code128', tracking, {}) as unknown as [{ sbs: number[] }];
  const module = (3 * 72) / 203;
  let x = 20.3;
  const bars = sbs.map((width, at) => {
    const bar = at % 2 === 0 ? `${x.toFixed(3)} 40.2 ${(width * module).toFixed(3)} 130 re f\n` : '';
    x += width * module;
    return bar;
  });
  return `0 g
6 6 276 420 re 1.5 w S
6 300 m 282 300 l S 6 200 m 282 200 l S
20 320 m 60 320 l 40 380 l h f 80 320 60 60 re f* 200 350 m 230 350 240 380 200 380 c 170 390 160 330 200 350 c f
BT /F 9 Tf 110 20 Td (${tracking}) Tj ET
${bars.join('')}`;
}

/** Operators at another place of the page. */
export const placedAt = (x: number, y: number, content: string) => `q 1 0 0 1 ${x} ${y} cm\n${content}Q\n`;
export const TRACKING = '00340434161094042557';

/** The label whose top left corner is there, as a template says it. */
export function region(x: number, yFromTop: number) {
  return { x: x / MM, y: yFromTop / MM, width: 288 / MM, height: 432 / MM };
}
