/**
 * The fonts labels are set in: those that the project or the template brings, never the host's.
 *
 * Each face is a stack that names a family for every script, so that the drawing library finds each glyph in it. Text with a
 * character that no family has is refused before it is drawn (`glyphs.ts`), because the library would go on to whatever fonts
 * the host has installed.
 */
import { createRequire } from 'node:module';
import { GlobalFonts } from '@napi-rs/canvas';
import type { Face, PackagedFace } from './font-face.ts';
import { FONT_PACKS, type FontPack, type Weight } from './font-packs.ts';
import { registeredFamily } from './tenant-fonts.ts';

const require = createRequire(import.meta.url);

interface FontFile {
  readonly family: string;
  readonly path: string;
}

/**
 * The font file of a package in a weight; none if the package is optional and not installed.
 * @throws Error if a required one is missing
 */
function fontFiles({ pack, file, weights, optional }: FontPack, weight: Weight): FontFile[] {
  if (!weights.includes(weight)) return [];
  try {
    const path = require.resolve(`@expo-google-fonts/${pack}/${weight}/${file}_${weight}.ttf`);
    // Families get names of our own: the host may have another version of a font under its real name.
    return [{ family: `platen-${pack}-${weight}`, path }];
  } catch (error) {
    if (optional === undefined) throw error;
    return [];
  }
}

const CONDENSED = 'roboto-condensed';
const all = (weight: Weight) =>
  FONT_PACKS.filter(({ pack }) => pack !== CONDENSED).flatMap((pack) => fontFiles(pack, weight));

const condensed = FONT_PACKS.filter(({ pack }) => pack === CONDENSED).flatMap((pack) =>
  fontFiles(pack, '700Bold'),
);
const regular = all('400Regular');
const bold = all('700Bold');
/** Only Latin, Greek and Cyrillic have a slanted form. Other scripts are set upright. */
const italic = all('400Regular_Italic');
const boldItalic = all('700Bold_Italic');

/** The optional font that has a character but is not installed, as `Noto Sans JP`; null: there is none. */
export function absentFont(char: string): string | null {
  const absent = FONT_PACKS.find(
    ({ pack, optional }) =>
      optional?.script.test(char) && !regular.some(({ family }) => family.startsWith(`platen-${pack}-`)),
  );
  return absent?.optional?.name ?? null;
}

/** Every font file. Each face can draw every character that any of them has. */
export const FONT_FILES: readonly FontFile[] = [...condensed, ...regular, ...bold, ...italic, ...boldItalic];

function stack(files: readonly FontFile[]): string {
  return files.map((file) => `"${file.family}"`).join(', ');
}

const STACKS: Readonly<Record<PackagedFace, string>> = {
  condensed: stack([...condensed, ...bold]),
  sans: stack([...regular, ...condensed]),
  'sans-bold': stack([...bold, ...condensed]),
  'sans-italic': stack([...italic, ...regular, ...condensed]),
  'sans-bold-italic': stack([...boldItalic, ...bold, ...condensed]),
};

let registered = false;

/**
 * The value of a canvas context's `font` for a face at a size (the em, in the context's units).
 * Registers the fonts at its first call (about 60 ms).
 * @throws Error when a font file is missing: the installation is broken
 */
export function canvasFont(face: Face, size: number): string {
  if (!registered) {
    for (const { family, path } of FONT_FILES) {
      if (GlobalFonts.registerFromPath(path, family) === null) {
        throw new Error(`The font ${path} cannot be read`);
      }
    }
    registered = true;
  }
  if (typeof face === 'string') return `${size}px ${STACKS[face]}`;
  return `${size}px "${registeredFamily(face)}", ${STACKS[face.fallback]}`;
}
