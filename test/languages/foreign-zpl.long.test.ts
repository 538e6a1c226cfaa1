/**
 * Labels that others wrote (carriers, warehouses, retail), taken as templates as they are and printed dot by dot as an
 * interpreter draws the original that is not ours. They are not part of the project: they are read where they lie,
 * beside the checkout in `shared/foreign-zpl`, or where PLATEN_FOREIGN_ZPL says.
 */

import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openZpl } from '../../drivers/languages/zpl/encode.ts';
import { rawZplTemplate } from '../../src/contract/template.ts';
import type { Bitmap } from '../../src/render/image/bitmap.ts';
import { zplRenderer } from '../../src/render/output/zpl-renderer.ts';
import { composeMedia, drawFields } from '../../src/zpl/interpreter/draw.ts';
import { labelPieces, labelZpl } from '../../src/zpl/interpreter/label-zpl.ts';
import { plannedLabel } from '../../src/zpl/interpreter/planned-label.ts';
import { dotsOf, drawZpl, jobFor, labelText } from '../kit/judges/judges.ts';

const FOLDER = process.env.PLATEN_FOREIGN_ZPL ?? join(import.meta.dirname, '../../../shared/foreign-zpl');

/** 8 dots a mm, as wide as the label says: the interpreter centres what is narrower than its sheet. */
const DPI = 203.2;
const WIDTH = 832;
const HEIGHT = 1624;

const REFUSED: Readonly<Record<string, RegExp>> = {
  // Two labels each.
  'zebrash-pnldpd': /line 211: a second label/,
  'zebrash-templating': /line 28: a second label/,
  // Maker 70000 with item 02198: GS1 has no UPC-E for these.
  'binarykits-BarcodeUpcE-102x152': /\^B9 cannot hold this data/,
  // It changes ^, and the characters of ASCII.
  'zebrash-encodings_013': /line 2: \^CC changes/,
};

/** An error of the interpreter, and what the guide says where it says something. */
interface Erring {
  readonly error: string;
  /** The label without what it gets wrong: from that it has to draw what we draw of the original. */
  readonly without?: (source: string) => string;
  /** Neither of us draws the original. */
  readonly both?: true;
}

/** Half as thick it is filled as well. */
const thinner = (source: string) =>
  source.replace(/\^GB(\d+),(\d+),(\d+)/g, (box, ...params) => {
    const [width = 1, height = 1, line = 1] = params.slice(0, 3).map(Number);
    const [across, down] = [Math.max(width, line), Math.max(height, line)];
    return across === down && line >= across ? `^GB${across},${down},${Math.ceil(across / 2)}` : box;
  });
/** A graphic at its lower left corner as one at its upper. */
const fromAbove = (source: string) =>
  source.replace(
    /\^FT(\d+),(\d+)([^^]*(?:\^(?!F[DOST]|G[BCF])[^^]*)*?)\^(GB|GC|GF)([^^]*)/g,
    (_, x, y, between, name, params) => {
      const [first, second, third, fourth] = String(params).split(',').map(Number);
      const heights: Record<string, number> = {
        GB: Math.max(second || 1, third || 1),
        GC: first ?? 0,
        GF: (third ?? 0) / (fourth ?? 1),
      };
      return `^FO${x},${Math.max(0, Number(y) - (heights[name] ?? 0))}${between}^${name}${params}`;
    },
  );
const SQUARES: Erring = {
  error:
    'it draws a square one dot too large whose line is as thick as its side; by ^GB it is that side wide',
  without: thinner,
};
const TYPESET: Erring = {
  error: 'it takes ^FT for ^FO; by ^FT a box and a graphic have their lower left corner there',
  without: fromAbove,
};
const ENCODING: Erring = {
  error: 'without ^CI it reads code page 850, with ¢ for a backslash; with us characters stay what they are',
  without: (source) => source.replace('^XA', '^XA^CI28'),
};
const DEVICE: Erring = {
  error: 'it refuses a name without its device; by ^DF and ^XF that is R:',
  without: (source) => source.replace(/\^(DF|XF)(?!\w:)/g, '^$1R:'),
};
const ORIENTATION: Erring = {
  error: 'it ignores ^POI, which turns the label by 180°',
  without: (source) => source.replaceAll('^POI', ''),
  both: true,
};
const LENGTH: Erring = {
  error: 'it ignores ^LL, over whose end it prints',
  without: (source) => source.replace(/\^LL\d+/g, ''),
  both: true,
};
const MAXICODE = 'it draws other MaxiCodes than bwip-js, by which those of all labels here are made';
const noBarcode = (command: string): Erring => ({
  error: `it has no ${command}, and prints its data as text`,
});

const ERRING: Readonly<Record<string, Erring>> = {
  'binarykits-DownloadObject-54x86': { error: 'it has no PNG: ~DY stores one with P' },
  'binarykits-Format-54x86': DEVICE,
  'binarykits-Format2-54x86': { error: `${DEVICE.error}; it refuses a barcode without data` },
  'binarykits-merge': DEVICE,
  'binarykits-Barcode93-102x152': noBarcode('^BA'),
  'binarykits-BarcodeUpcA-102x152': noBarcode('^BU'),
  'binarykits-GraphicEllipse-54x86': { error: 'it has no ^GE' },
  'binarykits-MaxiCode-102x152': { error: 'it refuses data that ^BD takes' },
  'binarykits-Example10-102x152': {
    error: 'it does not change to code set C (JVGL>5099…), as ^BC says of >5',
  },
  'binarykits-Example12-102x152': { error: MAXICODE },
  'binarykits-BarcodePDF417-102x152': {
    error: 'its PDF417 has modules of two dots whatever ^BY says, any number of rows, and no truncated form',
  },
  'binarykits-Example6-75x254': SQUARES,
  'binarykits-Example9-102x152': SQUARES,
  'binarykits-GraphicBox1-54x86': SQUARES,
  'binarykits-GraphicBox2-102x152': {
    error: `${TYPESET.error}; ${SQUARES.error}`,
    without: (source) => thinner(fromAbove(source)),
  },
  'binarykits-Example2-102x170': TYPESET,
  'binarykits-GraphicBox3-54x86': TYPESET,
  'binarykits-GraphicCircle3-54x86': TYPESET,
  'binarykits-TextRotation1-102x152': TYPESET,
  'binarykits-TextRotation2-102x152': TYPESET,
  'zebrash-dbs': SQUARES,
  'zebrash-labelary': SQUARES,
  'zebrash-posten': {
    error: 'it reads the fill ! as something else: "an exclamation mark fills the line with ones"',
  },
  'binarykits-Example5-75x202': ENCODING,
  'binarykits-Example8-64x152': ENCODING,
  'binarykits-font-assign': ENCODING,
  'zebrash-fedex': { error: `${ORIENTATION.error}; it makes other codewords for PDF417` },
  'zebrash-ups': { error: `${ORIENTATION.error}; ${MAXICODE}` },
  'zebrash-ups_surepost': { error: `${ORIENTATION.error}; ${MAXICODE}` },
  'zebrash-aztec_ec': LENGTH,
  'zebrash-dhlecommercetr': LENGTH,
  'zebrash-reverse_qr': {
    error: `${LENGTH.error}; ${SQUARES.error}`,
    without: (source) => thinner(source.replace(/\^LL\d+/g, '')),
    both: true,
  },
};

const widthOf = (source: string) => Number(/\^PW(\d+)/.exec(source)?.[1] ?? WIDTH);

/** What is drawn otherwise whatever is done about it. */
const WITH_ERRORS = Object.entries(ERRING).flatMap(([name, { without }]) =>
  without === undefined ? [name] : [],
);

/** What the virtual printer makes of it. @throws it cannot draw it */
async function ours(source: string): Promise<Bitmap> {
  const width = widthOf(source);
  const made = jobFor(rawZplTemplate.parse({ name: 'foreign', language: 'zpl', source }), [{}]);
  const format = { ...made.format, dpi: DPI, width: width / 8, height: HEIGHT / 8 };
  const text = await labelText(await openZpl({ ...made, format }));
  const { plan, faults } = plannedLabel(text, { width, height: HEIGHT, dpi: DPI });
  const found = [...faults, ...(plan?.faults ?? ['it prints nothing'])];
  if (plan === undefined || found.length > 0) throw new Error(found.join(', '));
  const page = { ...plan, mediaWidth: width, mediaHeight: HEIGHT };
  const fields = await drawFields(await labelZpl(labelPieces(plan, 0), zplRenderer), page);
  return dotsOf(await composeMedia(page, fields, false));
}

/** The label as it was written, drawn by others. */
async function theirs(source: string): Promise<Bitmap | undefined> {
  try {
    return await dotsOf(await drawZpl(source, widthOf(source), HEIGHT));
  } catch (error) {
    // The judge's own refusals are its matter; ours are in the list of what is refused.
    if (error instanceof Error && error.message.startsWith('Error rendering')) return undefined;
    throw error;
  }
}

function same(one: Bitmap, other: Bitmap | undefined): boolean {
  return other !== undefined && Buffer.compare(one.data, other.data) === 0;
}

test('are taken, and print dot by dot as they were written', { timeout: 300_000 }, async ({ skip }) => {
  skip(!existsSync(FOLDER), `the labels of others are not at ${FOLDER}`);
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.zpl'));
  const found = {
    same: [] as string[],
    sameWithout: [] as string[],
    erring: [] as string[],
    refused: [] as string[],
  };
  for (const file of files) {
    const name = file.replace(/\.zpl$/, '');
    const source = await readFile(join(FOLDER, file), 'utf8');
    const refusal = REFUSED[name];
    if (refusal !== undefined) {
      await expect(ours(source), name).rejects.toThrow(refusal);
      found.refused.push(name);
      continue;
    }
    const drawn = await ours(source);
    const { without, both } = ERRING[name] ?? {};
    if (same(drawn, await theirs(source))) found.same.push(name);
    else if (without === undefined) found.erring.push(name);
    else {
      const judged = both ? await ours(without(source)) : drawn;
      (same(judged, await theirs(without(source))) ? found.sameWithout : found.erring).push(name);
    }
  }
  expect(found.refused.sort()).toEqual(Object.keys(REFUSED).sort());
  // Each that is drawn otherwise is drawn so by an error of the interpreter, which most labels can do without.
  expect([...found.sameWithout, ...found.erring].sort()).toEqual(Object.keys(ERRING).sort());
  expect(found.erring.sort()).toEqual(WITH_ERRORS.sort());
  expect(found.same.length + found.sameWithout.length).toBeGreaterThanOrEqual(100);
});
