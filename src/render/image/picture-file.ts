/**
 * Reads the kind and size of an untrusted picture file from its header, before the drawing library gets it.
 * The library cannot be stopped once it has begun, and takes four bytes for each pixel.
 */
import { because } from '../../contract/reason.ts';
import { PictureFault } from './picture-fault.ts';
import { svgElements } from './svg.ts';

/** The most pixels of one picture: A4 at 400 dpi. The picture's own pixels count, not its size on the label. */
const MOST_PIXELS = 16_000_000;
/** The most scans of a progressive JPEG. Programs write about ten, and each costs as much as decoding a whole picture. */
const MOST_SCANS = 100;

export interface PictureFile {
  /** Pixels of the decoded picture; 0 for a vector drawing. */
  readonly pixels: number;
  /** Undefined for a vector drawing, which is sharp at any size. */
  readonly pixelFile: PixelFile | undefined;
  /** How many elements may paint one of its dots. */
  readonly layers: number;
}

/** A PNG or JPEG, as its header says. */
export interface PixelFile {
  readonly width: number;
  readonly height: number;
  readonly kind: 'png' | 'jpeg';
  /** False: a JPEG without its end. */
  readonly ends: boolean;
}

/** @throws PictureFault */
export function readPictureFile(bytes: Buffer): PictureFile {
  const pixelFile = readPixelFile(bytes);
  return pixelFile === undefined
    ? { pixels: 0, pixelFile, layers: svgElements(bytes) }
    : { pixels: pixelFile.width * pixelFile.height, pixelFile, layers: 1 };
}

/** Undefined: it is neither PNG nor JPEG. @throws PictureFault */
export function readPixelFile(bytes: Buffer): PixelFile | undefined {
  const file = pixelFile(bytes);
  if (file === undefined) return undefined;
  requirePixels(file);
  return file;
}

/** @throws PictureFault if there are no pixels, or too many */
export function requirePixels({ width, height }: { readonly width: number; readonly height: number }): void {
  if (!(width > 0 && height > 0)) throw new PictureFault(because('picture-no-size', {}));
  if (width * height > MOST_PIXELS)
    throw new PictureFault(because('picture-large', { width, height, most: MOST_PIXELS }));
}

/** Undefined: it is neither PNG nor JPEG. */
function pixelFile(bytes: Buffer): PixelFile | undefined {
  try {
    if (bytes.subarray(0, 8).equals(PNG)) return { ...pngSize(bytes), kind: 'png', ends: true };
    if (bytes.subarray(0, 3).equals(JPEG)) return { ...jpegSize(bytes), kind: 'jpeg' };
  } catch (error) {
    // Thrown by a read beyond the end of the file.
    if (error instanceof RangeError) throw new PictureFault(because('picture-cut-off', {}));
    throw error;
  }
  return undefined;
}

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const JPEG = Buffer.from('ffd8ff', 'hex');

/** IHDR is the first chunk (PNG, ISO/IEC 15948, 11.2.2). */
function pngSize(bytes: Buffer): { width: number; height: number } {
  if (bytes.toString('latin1', 12, 16) !== 'IHDR') throw new PictureFault(because('picture-no-header', {}));
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** Start of frame, of any kind but tables (C4), reserved (C8) and arithmetic conditioning (CC): ITU-T T.81, B.1.1.3. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

const SCAN = 0xda;
const END = 0xd9;
const STANDALONE = (marker: number) => marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd9);

/** The size of the largest frame; valid files have one frame. */
function jpegSize(bytes: Buffer): { width: number; height: number; ends: boolean } {
  const size = { width: 0, height: 0, ends: false };
  let scans = 0;
  for (let at = 2; ; ) {
    // Within a scan, FF is data if 00 follows it. Elsewhere a marker stands where the segment before it ends.
    at = bytes.indexOf(0xff, at);
    if (at < 0 || at + 1 >= bytes.length) return size;
    const marker = bytes.readUInt8(at + 1);
    if (marker === END) return { ...size, ends: true };
    if (marker === 0xff) at += 1;
    else if (STANDALONE(marker)) at += 2;
    else {
      if (isFrame(marker)) {
        size.height = Math.max(size.height, bytes.readUInt16BE(at + 5));
        size.width = Math.max(size.width, bytes.readUInt16BE(at + 7));
      }
      if (marker === SCAN) scans += 1;
      if (scans > MOST_SCANS) throw new PictureFault(because('picture-scans', { most: MOST_SCANS }));
      at += 2 + Math.max(2, bytes.readUInt16BE(at + 2));
    }
  }
}

/** Pixels an inch, across and down. */
export interface Resolution {
  readonly x: number;
  readonly y: number;
}

/** A picture that is off by no more than this share has the printer's resolution. For 8 dots a mm, files say 203.2 or 203 dpi. */
const SAME = 0.01;

/** Whether a picture has the printer's resolution, so that each of its pixels is printed as a dot. @param ratio of these */
export function isSameResolution(ratio: number): boolean {
  return Math.abs(ratio - 1) <= SAME;
}

const INCH = 0.0254;

/** The resolution that a PNG or JPEG file says. Undefined: it says none, or one that nobody scans or prints at. */
export function pictureResolution(bytes: Buffer): Resolution | undefined {
  const said = bytes.subarray(0, 8).equals(PNG) ? pngResolution(bytes) : jfifResolution(bytes);
  const usual = (dpi: number) => dpi >= 50 && dpi <= 5_000;
  return said !== undefined && usual(said.x) && usual(said.y) ? said : undefined;
}

/** pHYs stands before the pixels (PNG, 11.3.4.3). */
function pngResolution(bytes: Buffer): Resolution | undefined {
  for (let at = 8; at + 21 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (type === 'IDAT') return undefined;
    if (type !== 'pHYs') continue;
    const perMetre = bytes.readUInt8(at + 16) === 1;
    return perMetre
      ? { x: bytes.readUInt32BE(at + 8) * INCH, y: bytes.readUInt32BE(at + 12) * INCH }
      : undefined;
  }
  return undefined;
}

/** A JFIF file begins with its APP0 (JFIF 1.02). */
function jfifResolution(bytes: Buffer): Resolution | undefined {
  if (bytes.length < 18 || bytes.toString('latin1', 6, 11) !== 'JFIF\0') return undefined;
  const unit = { 1: 1, 2: 100 * INCH }[bytes.readUInt8(13)];
  return unit === undefined
    ? undefined
    : { x: bytes.readUInt16BE(14) * unit, y: bytes.readUInt16BE(16) * unit };
}
