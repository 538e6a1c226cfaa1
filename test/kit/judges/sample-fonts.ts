/** Fonts that are not Platen's: those that come with bwip-js, which draws its own texts with them. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const FOLDER = join(dirname(createRequire(import.meta.url).resolve('bwip-js')), '..', 'fonts');

/** TrueType outlines. */
export const OCR_B = readFileSync(join(FOLDER, 'OCRB7.ttf'));
export const OCR_A = readFileSync(join(FOLDER, 'OCRA7.ttf'));
/** CFF outlines. */
export const INCONSOLATA = readFileSync(join(FOLDER, 'Inconsolata.otf'));
