/** Opens a stranger's PDF with pdf.js. It gets the fonts and tables that come with pdf.js, and none of the machine's. */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { getDocument, type PDFDocumentLoadingTask, VerbosityLevel } from 'pdfjs-dist/legacy/build/pdf.mjs';

/** Largest picture within a page, pixels. */
const MAX_IMAGE = 64 * 1024 * 1024;

const data = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
const folder = (name: string) => `${join(data, name)}/`;

/** @param verbosity what pdf.js writes to the thread's console */
export function openPdf(
  bytes: Uint8Array,
  verbosity: number = VerbosityLevel.ERRORS,
): PDFDocumentLoadingTask {
  return getDocument({
    // A copy, because pdf.js takes the bytes away from the caller.
    data: new Uint8Array(bytes),
    standardFontDataUrl: folder('standard_fonts'),
    cMapUrl: folder('cmaps'),
    cMapPacked: true,
    wasmUrl: folder('wasm'),
    iccUrl: folder('iccs'),
    useSystemFonts: false,
    disableFontFace: true,
    enableXfa: false,
    maxImageSize: MAX_IMAGE,
    verbosity,
  });
}
