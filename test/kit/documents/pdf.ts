/** PDF files made by hand, so that a test says every byte of a page. */
import { deflateSync } from 'node:zlib';

export interface PdfSheet {
  /** Points. */
  readonly width: number;
  readonly height: number;
  readonly rotate?: number;
  /** Operators of the page. */
  readonly content: string;
}

export interface PdfScan {
  readonly width: number;
  readonly height: number;
  /** One bit a pixel, 1 is black, rows padded to bytes. */
  readonly data: Uint8Array;
}

/** An object, or a stream with the entries of its dictionary. */
export type PdfObject = string | { readonly head: string; readonly stream: Uint8Array };

/** A file of these objects: the first, number 1, is the catalog. */
export function pdfFile(objects: readonly PdfObject[]): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n')];
  let length = parts[0]?.length ?? 0;
  const offsets = objects.map((object, at) => {
    const body =
      typeof object === 'string'
        ? [Buffer.from(object)]
        : [
            Buffer.from(`<<${object.head}/Length ${object.stream.length}>>stream\n`),
            object.stream,
            Buffer.from('\nendstream'),
          ];
    const part = Buffer.concat([Buffer.from(`${at + 1} 0 obj\n`), ...body, Buffer.from('\nendobj\n')]);
    const offset = length;
    parts.push(part);
    length += part.length;
    return `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join('')}`;
  const trailer = `trailer<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${length}\n%%EOF\n`;
  return Buffer.concat([...parts, Buffer.from(table + trailer)]);
}

/** Named /F (Helvetica) and, of the scans, /S0, /S1, … */
export function pdfOf(sheets: readonly PdfSheet[], scans: readonly PdfScan[] = []): Buffer {
  const objects: PdfObject[] = [];
  const kids = sheets.map((_, at) => `${3 + 2 * at} 0 R`).join(' ');
  const fontAt = 3 + 2 * sheets.length;
  objects.push('<</Type/Catalog/Pages 2 0 R>>');
  objects.push(`<</Type/Pages/Count ${sheets.length}/Kids[${kids}]>>`);
  const pictures = scans.map((_, at) => `/S${at} ${fontAt + 1 + at} 0 R`).join('');
  for (const [at, { width, height, rotate = 0, content }] of sheets.entries()) {
    objects.push(
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${width} ${height}]/Rotate ${rotate}/Contents ${4 + 2 * at} 0 R` +
        `/Resources<</Font<</F ${fontAt} 0 R>>/XObject<<${pictures}>>>>>>`,
    );
    objects.push({ head: '/Filter/FlateDecode', stream: deflateSync(Buffer.from(content)) });
  }
  objects.push('<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>');
  for (const { width, height, data } of scans) {
    const head = `/Type/XObject/Subtype/Image/Width ${width}/Height ${height}/BitsPerComponent 1`;
    objects.push({
      head: `${head}/ColorSpace/DeviceGray/Decode[1 0]/Filter/FlateDecode`,
      stream: deflateSync(data),
    });
  }
  return pdfFile(objects);
}
