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

const OTHERWISE: Readonly<Record<string, string>> = {
  'binarykits-DownloadObject-54x86': 'the interpreter does not draw a PNG',
  'binarykits-Format-54x86': 'the interpreter wants a device with ^DF',
  'binarykits-Format2-54x86': 'the interpreter wants a device with ^DF',
  'binarykits-merge': 'the interpreter wants a device with ^DF',
  'binarykits-Barcode93-102x152': 'the interpreter does not draw ^BA, and prints its data as text',
  'binarykits-BarcodeUpcA-102x152': 'the interpreter does not draw ^BU, and prints its data as text',
  'binarykits-GraphicEllipse-54x86': 'the interpreter does not draw ^GE',
  'binarykits-MaxiCode-102x152': 'the interpreter refuses its data',
  'binarykits-Example10-102x152': 'the interpreter does not change to code set C (JVGL>5099…)',
  'binarykits-Example12-102x152': 'its MaxiCode is drawn by us, as every MaxiCode of raw ZPL',
  'binarykits-Example6-75x254': 'the interpreter draws filled squares a dot too large',
  'binarykits-Example9-102x152': 'the interpreter draws filled squares a dot too large',
  'binarykits-GraphicBox1-54x86': 'the interpreter draws filled squares a dot too large',
  'binarykits-GraphicBox2-102x152': 'the interpreter draws filled squares a dot too large',
  'zebrash-dbs': 'the interpreter draws filled squares otherwise',
  'zebrash-labelary': 'the interpreter draws filled squares a dot too large',
  'zebrash-posten': 'the interpreter reads the fill ! of a graphic as something else',
  'binarykits-Example5-75x202': 'without ^CI a backslash is ¢ there; with us it stays one',
  'binarykits-Example8-64x152': 'without ^CI a backslash is ¢ there; with us it stays one',
  'binarykits-font-assign':
    'without ^CI its UTF-8 is read as code page 850 there; with us its characters stay what they are',
  'zebrash-fedex': 'the interpreter ignores ^POI',
  'zebrash-ups': 'the interpreter ignores ^POI',
  'zebrash-ups_surepost': 'the interpreter ignores ^POI',
  'zebrash-aztec_ec': 'the interpreter ignores ^LL, over whose end it prints',
  'zebrash-dhlecommercetr': 'the interpreter ignores ^LL, over whose end it prints',
  'zebrash-reverse_qr': 'the interpreter ignores ^LL, over whose end it prints',
};

/** What the virtual printer makes of it, and the same label as it was written. */
async function pictures(source: string): Promise<[ours: Uint8Array, theirs: Uint8Array]> {
  const width = Number(/\^PW(\d+)/.exec(source)?.[1] ?? WIDTH);
  const made = jobFor(rawZplTemplate.parse({ name: 'foreign', language: 'zpl', source }), [{}]);
  const format = { ...made.format, dpi: DPI, width: width / 8, height: HEIGHT / 8 };
  const text = await labelText(await openZpl({ ...made, format }));
  const { plan, faults } = plannedLabel(text, { width, height: HEIGHT, dpi: DPI });
  if (plan === undefined) throw new Error(`it prints nothing: ${faults.join(', ')}`);
  const page = { ...plan, mediaWidth: width, mediaHeight: HEIGHT };
  const ours = await dotsOf(
    await composeMedia(
      page,
      await drawFields(await labelZpl(labelPieces(plan, 0), zplRenderer), page),
      false,
    ),
  );
  const theirs = await dotsOf(await drawZpl(source, width, HEIGHT));
  return [ours.data, theirs.data];
}

test('are taken, and print dot by dot as they were written', { timeout: 300_000 }, async ({ skip }) => {
  skip(!existsSync(FOLDER), `the labels of others are not at ${FOLDER}`);
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.zpl'));
  const found = { taken: 0, same: 0, refused: [] as string[], otherwise: [] as string[] };
  for (const file of files) {
    const name = file.replace(/\.zpl$/, '');
    const source = await readFile(join(FOLDER, file), 'utf8');
    const refusal = REFUSED[name];
    if (refusal !== undefined) {
      await expect(pictures(source), name).rejects.toThrow(refusal);
      found.refused.push(name);
      continue;
    }
    const drawn = await pictures(source).catch((error: unknown) => {
      // The judge's own refusals are its matter; ours would be in the list above.
      if (!(error instanceof Error) || !error.message.startsWith('Error rendering')) throw error;
    });
    found.taken++;
    if (drawn !== undefined && Buffer.compare(...drawn) === 0) found.same++;
    else found.otherwise.push(name);
  }
  expect(found.refused.sort()).toEqual(Object.keys(REFUSED).sort());
  expect(found.otherwise.filter((name) => OTHERWISE[name] === undefined)).toEqual([]);
  expect(found.taken).toBeGreaterThanOrEqual(114);
  expect(found.same).toBeGreaterThanOrEqual(87);
});
