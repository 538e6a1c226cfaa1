/**
 * Every symbology, turned every way, at every resolution, in every output, read by a decoder that we did not
 * write, or compared with what an encoder that we did not write makes of the same data. The matrix of what was
 * read, and by whom, is printed: nothing is left out in silence.
 *
 * FULL_MATRIX=1 runs all 36 combinations of a case. Without it, each runs 12 of them, so chosen that each output
 * meets each rotation, each rotation each resolution, and each resolution each output.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { openPdf } from '../../drivers/languages/pdf/encode.ts';
import { openZpl } from '../../drivers/languages/zpl/encode.ts';
import { dots } from '../../src/contract/dots.ts';
import { SYMBOLOGIES } from '../../src/contract/template.ts';
import type { DisplayList } from '../../src/render/display-list.ts';
import type { Rotation } from '../../src/render/image/bitmap.ts';
import { encodePng } from '../../src/render/image/png-encoder.ts';
import { compileLabel } from '../../src/render/label-layout.ts';
import { rasterBitmap } from '../../src/render/output/raster.ts';
import {
  design,
  differingDots,
  dotsOf,
  drawPdf,
  drawZpl,
  inkBox,
  jobFor,
  labelText,
  readSymbols,
} from '../kit/judges/judges.ts';
import { rasterize } from '../kit/judges/label-picture.ts';
import {
  barsOnPicture,
  everyOther,
  postalOnPicture,
  rowsOnPicture,
  turnedBack,
  withoutMargins,
  zintRows,
} from '../kit/judges/zint.ts';
import { CASES, type SymbologyCase } from './symbology-cases.ts';

const OUTPUTS = ['zpl', 'pdf', 'png'] as const;
const TURNS: readonly Rotation[] = [0, 90, 180, 270];
const RESOLUTIONS = [203, 300, 600] as const;
const FULL = process.env['FULL_MATRIX'] === '1';
const MODULE = 0.25;

type Output = (typeof OUTPUTS)[number];

/** A share of the matrix in which any two of output, rotation and resolution meet. */
function outputsFor(turn: number, resolution: number): readonly Output[] {
  return FULL ? OUTPUTS : OUTPUTS.filter((_, output) => output === (turn + resolution) % OUTPUTS.length);
}

/** A label with no more around the symbol than a margin: pictures cost time. */
async function labelFor(one: SymbologyCase, turn: Rotation) {
  const element = {
    type: 'barcode',
    symbology: one.symbology,
    value: '{{code}}',
    module: MODULE,
    ...one.element,
  };
  const compile = async (width: number, height: number, place: object) => {
    const label = design(width, height, [{ ...element, ...place }], [{ name: 'code' }]);
    return { label, list: (await compileLabel(label, { dpi: 203, orientation: 'portrait' })).layout(data) };
  };
  const data = { code: one.value };
  const ink = inkBox(rasterBitmap((await compile(120, 50, { x: 0, y: 0 })).list));
  const mm = (length: number) => Math.ceil((length * 25.4) / 203);
  // The bars of postal codes are whole dots apart, and so up to 6 % further at another resolution.
  const [width, height] = [mm(ink.right * 1.06) + 8, mm(ink.bottom) + 8];
  const upright = turn === 0 || turn === 180;
  const [across, down] = upright ? [width, height] : [height, width];
  return { data, ...(await compile(across, down, { x: 2, y: 2, rotation: turn })) };
}

async function judge(one: SymbologyCase, png: Uint8Array, turn: Rotation, dpi: number): Promise<unknown> {
  if (one.judge.by === 'zxing') {
    // zxing reads MaxiCode upright only; a quarter turn back moves dots and changes none.
    const shown = one.symbology === 'maxicode' ? encodePng(turnedBack(await dotsOf(png), turn), dpi) : png;
    const found = await readSymbols(shown, {
      eanAddOnSymbol: one.judge.addOn === true ? 'Require' : 'Ignore',
      ...(one.judge.only !== undefined && { formats: [one.judge.only] }),
    });
    return found.map(({ format, text }) => ({ format, text }));
  }
  const picture = await dotsOf(png);
  if (one.judge.rows === 'all') return rowsOnPicture(picture, turn, dots(MODULE, dpi));
  if (one.judge.rows === 1) return barsOnPicture(picture, turn, dots(MODULE, dpi));
  return postalOnPicture(picture, turn, one.judge.rows);
}

/** What zint makes of a case, which is asked once for all of its combinations. */
const madeByZint = new Map<SymbologyCase, ReturnType<typeof zintRows>>();

async function verdict(one: SymbologyCase, judged: unknown): Promise<unknown> {
  const { judge: by } = one;
  if (by.by === 'zxing') return [{ format: by.format, text: by.reads }];
  const made = madeByZint.get(one) ?? zintRows(by.type, by.data, by.options);
  madeByZint.set(one, made);
  const rows = await made;
  if (by.rows === 'all') return withoutMargins(rows);
  if (by.rows === 1) return rows[0]?.replace(/0+$/, '');
  const bars = Array.isArray(judged) && typeof judged[0] === 'string' ? judged[0].length : 0;
  return everyOther(rows, bars).map((row, at) => {
    expect(rows[at]?.slice(2 * bars).includes('1')).toBe(false);
    return row;
  });
}

/** Cases that the printer drew the bars of. */
const native = new Set<string>();
const matrix = new Map<string, Map<string, Rotation[]>>();

afterAll(() => {
  const cells = RESOLUTIONS.flatMap((dpi) => OUTPUTS.map((output) => `${output} ${dpi}`));
  const width = FULL ? 14 : 9;
  const lines = [
    FULL
      ? 'All 36 combinations of output, rotation and resolution were judged:'
      : '12 of the 36 combinations a case, every two of output, rotation and resolution together (FULL_MATRIX=1: all):',
    `${'read, turned by'.padEnd(34)}${'judge'.padEnd(20)}${'in ZPL'.padEnd(9)}${cells.map((cell) => cell.padEnd(width)).join('')}`,
    ...CASES.map(({ name, symbology, judge: { by } }) => {
      const read = cells.map((cell) => (matrix.get(name)?.get(cell)?.join(',') ?? '-').padEnd(width));
      const bars = native.has(name) ? 'native' : 'graphic';
      return `${name.padEnd(34)}${(symbology === 'maxicode' ? 'zxing, turned back' : by).padEnd(20)}${bars.padEnd(9)}${read.join('')}`;
    }),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
});

test('every symbology has a case', () => {
  expect(new Set(CASES.map(({ symbology }) => symbology))).toEqual(new Set(SYMBOLOGIES));
  expect(new Set(CASES.map(({ name }) => name)).size).toBe(CASES.length);
});

describe.each(CASES)('$name, judged by $judge.by', (one) => {
  test.each(TURNS)('turned %i°', async (turn) => {
    const { label, data } = await labelFor(one, turn);
    for (const [at, dpi] of RESOLUTIONS.entries()) {
      const list = (await compileLabel(label, { dpi, orientation: 'portrait' })).layout(data);
      for (const output of outputsFor(TURNS.indexOf(turn), at)) {
        const picture = await draw(one.name, output, list, jobFor(label, [data], { dpi }));
        const judged = await judge(one, picture, turn, dpi);
        const wanted = await verdict(one, judged);
        const where = `${output} at ${dpi} dpi`;
        expect.soft(judged, where).toEqual(wanted);
        // Where the printer sets no text, its picture is ours, dot for dot, whoever drew the bars.
        if (output === 'zpl' && !list.items.some((item) => item.kind === 'text')) {
          expect.soft(differingDots(await dotsOf(picture), rasterBitmap(list)), where).toBe(0);
        }
        const read = matrix.get(one.name) ?? new Map<string, Rotation[]>();
        matrix.set(one.name, read);
        const cell = `${output} ${dpi}`;
        if (JSON.stringify(judged) === JSON.stringify(wanted))
          read.set(cell, [...(read.get(cell) ?? []), turn]);
      }
    }
  });
});

async function draw(
  name: string,
  output: Output,
  list: DisplayList,
  job: ReturnType<typeof jobFor>,
): Promise<Uint8Array> {
  switch (output) {
    case 'png':
      return rasterize(list);
    case 'pdf':
      return drawPdf(await (await openPdf(job)).label(0, 1), list.dpi);
    case 'zpl': {
      const text = await labelText(await openZpl(job));
      if (/\^B[23CE]/.test(text)) native.add(name);
      return drawZpl(text, list.width, list.height);
    }
  }
}
