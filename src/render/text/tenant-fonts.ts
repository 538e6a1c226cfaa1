/**
 * Reads the fonts that a template brings, and registers them with the drawing library.
 *
 * The drawing library has one list of families for the whole process. A tenant's face is registered under a name that is made
 * from its content and the thread, so that fonts of the same name do not collide, and no thread removes a font that another
 * draws with. A thread keeps only a few fonts registered. A font that was removed is registered again when it is used.
 */

import { createHash } from 'node:crypto';
import { threadId } from 'node:worker_threads';
import { type FontKey, GlobalFonts } from '@napi-rs/canvas';
import { LRUCache } from 'lru-cache';
import { because, becauseOf } from '../../contract/reason.ts';
import type { TemplateFont } from '../../contract/template-font.ts';
import type { Kept } from '../kept.ts';
import type { TenantFace } from './font-face.ts';
import { FontFault } from './font-fault.ts';
import { readFontFile } from './font-file.ts';

export interface FaceWish {
  readonly font: string;
  readonly bold: boolean;
  readonly italic: boolean;
}

/** A template's fonts, each read when it is first asked for. */
export interface FontSet {
  /** @throws FontFault: there is no such font or face, or its file cannot be used */
  face(wish: FaceWish): TenantFace;
}

/** @param keep the faces that are kept, by the hash of the file and the style */
export function createFontSet(fonts: readonly TemplateFont[], keep: Kept<TenantFace> = new Map()): FontSet {
  const read = new Map<TemplateFont, TenantFace>();
  return {
    face: ({ font, bold, italic }) => {
      const faces = fonts.filter(({ name }) => name === font);
      if (faces.length === 0) throw new FontFault(because('font-unknown', { font: JSON.stringify(font) }));
      const wanted = faces.find((face) => face.bold === bold && face.italic === italic);
      if (wanted === undefined) {
        const style = [bold && 'bold', italic && 'italic'].filter(Boolean).join(' ') || 'regular';
        throw new FontFault(because('face-unknown', { font: JSON.stringify(font), style }));
      }
      const face = read.get(wanted) ?? readNamed(wanted, keep);
      read.set(wanted, face);
      return face;
    },
  };
}

function readNamed(face: TemplateFont, keep: Kept<TenantFace>): TenantFace {
  try {
    return readFace(face, keep);
  } catch (error) {
    if (!(error instanceof FontFault)) throw error;
    throw new FontFault(becauseOf('font-refused', { font: JSON.stringify(face.name) }, error.said));
  }
}

function readFace({ data, bold, italic }: TemplateFont, keep: Kept<TenantFace>): TenantFace {
  const file = Buffer.from(data, 'base64');
  const hash = createHash('sha256').update(file).digest('hex').slice(0, 32);
  const fallback = `sans${bold ? '-bold' : ''}${italic ? '-italic' : ''}` as const;
  const key = `${fallback} ${hash}`;
  const known = keep.get(key);
  const face = known ?? {
    family: `platen-own-${threadId}-${hash}`,
    file,
    characters: readFontFile(file),
    fallback,
  };
  registeredFamily(face);
  if (known === undefined) keep.set(key, face);
  return face;
}

const MOST_REGISTERED = 16;
/** The families that this thread has in the drawing library: those used last. */
const registered = new LRUCache<string, FontKey>({
  max: MOST_REGISTERED,
  dispose: (key) => void GlobalFonts.remove(key),
});

/** Registers a face if need be; returns its family. @throws FontFault: the library cannot read the file */
export function registeredFamily({ family, file }: TenantFace): string {
  if (registered.get(family) !== undefined) return family;
  const key = GlobalFonts.register(file, family);
  if (key === null) throw new FontFault(because('font-broken', { detail: 'it cannot be drawn with' }));
  registered.set(family, key);
  return family;
}
