/** Small files that unpack, or are drawn, to much: graphics, pictures, fonts and documents, by a tenant’s own people. */
import { randomBytes } from 'node:crypto';
import { crc32, deflateSync, gzipSync } from 'node:zlib';
import { pdfFile, pdfOf } from '../kit/documents/pdf.ts';
import { rasterOf, whitePage } from '../kit/documents/raster.ts';
import { fontOf, mapped, pointed } from '../kit/judges/font-bombs.ts';
import { type Attack, loops, only } from './callers.ts';

const MB = 1024 * 1024;
/** At the full size. */
const CALLERS = 6;
/**
 * Drawn, refused with what is wrong, given up after the time or the memory that one label may take, or refused since the tenant
 * has too much under way.
 */
const EXPECTED = [200, 400, '422 label-undrawable', '500 overloaded', '503 not-ready'];

/** Of the largest square picture, pixels. */
const side = (share: number) => Math.floor(4_000 * Math.sqrt(share));

/** One caller at least. */
const callers = (share: number) => Math.ceil(CALLERS * share);

function z64(bytes: number): string {
  return `:Z64:${deflateSync(Buffer.alloc(bytes), { level: 9 }).toString('base64')}:0000`;
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

/** A PNG of so many white pixels, with chunks before its pixels. */
function png(width: number, height: number, { interlaced = false, more = [] as Buffer[] } = {}): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 16 bits, RGBA: the most that a pixel may take.
  header.set([16, 6, 0, 0, interlaced ? 1 : 0], 8);
  const rows = deflateSync(Buffer.alloc((8 * width + 1) * height + (interlaced ? 8 * height : 0)), {
    level: 9,
  });
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    ...more,
    chunk('IDAT', rows),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Keyword, the method 0, and zeros. */
const packed = (bytes: number) =>
  Buffer.concat([Buffer.from('x\0\0', 'latin1'), deflateSync(Buffer.alloc(bytes), { level: 9 })]);

const LABEL = { name: 'bomb', width: 100, height: 150 };
const text = { type: 'text', x: 2, y: 2, width: 95, height: 140, size: 3, overflow: 'shrink' };
const image = { type: 'image', x: 1, y: 1, width: 98, height: 148 };

/** A preview of a template again and again, another one each time so that nothing is kept. */
function previews(name: string, make: (share: number) => object): Attack {
  return {
    name: `previews of ${name}`,
    run: async (target, { seconds, share }) => {
      const whole = JSON.stringify({ template: make(share) });
      const headers = await target.operator();
      const seen = await loops(callers(share), seconds, (agent) =>
        target.send({
          path: '/app/tenants/attacker/templates/preview',
          headers,
          body: whole.replace('"bomb"', `"${randomBytes(8).toString('hex')}"`),
          agent,
        }),
      );
      return only(seen, ...EXPECTED);
    },
  };
}

function raw(source: string): object {
  return { ...LABEL, language: 'zpl', dpi: 203, source };
}

function pictured(bytes: Buffer, count = 1): object {
  const data = bytes.toString('base64');
  return { ...LABEL, elements: Array.from({ length: count }, () => ({ ...image, data })) };
}

function written(font: Buffer): object {
  return {
    ...LABEL,
    fonts: [{ name: 'own', data: font.toString('base64') }],
    elements: [{ ...text, font: 'own', text: 'AbcdefgHijklmn 0123456789 '.repeat(200) }],
  };
}

/** Documents in a job's records; the service reads each before it takes the job. */
function documents(name: string, file: (share: number) => Buffer): Attack {
  return withDocument(`documents: ${name}`, '/v2/jobs/validate', { printer: 'virtual-1' }, file);
}

/** A document of which a PDF is asked for: a page is taken out of it. */
function pages(name: string, file: (share: number) => Buffer): Attack {
  return withDocument(`pages: ${name}`, '/v2/labels', { language: 'pdf' }, file);
}

function withDocument(name: string, path: string, asked: object, file: (share: number) => Buffer): Attack {
  return {
    name,
    page: 512 * MB,
    run: async (target, { seconds, share }) => {
      const idT = await target.documentTemplate();
      const data = [{ document: file(share).toString('base64') }];
      const body = JSON.stringify({ idT, data, ...asked });
      const seen = await loops(callers(share), seconds, (agent) =>
        target.send({ path, headers: target.jobHeaders(), body, agent }),
      );
      return only(seen, ...EXPECTED);
    },
  };
}

const GRAPHIC = (data: string) => `^FO0,0^GFA,100,100,100,${data}^FS`;

export const BOMBS: readonly Attack[] = [
  previews('a graphic of zeros by the hundred megabytes', (share) =>
    raw(`^XA${GRAPHIC(z64(300 * MB * share))}^XZ`),
  ),
  previews('graphics that unpack to the most that one may, a hundred of them', () =>
    raw(`^XA${GRAPHIC(z64(7 * MB)).repeat(100)}^XZ`),
  ),
  previews('pictures of the most pixels', (share) => pictured(png(side(share), side(share)), 2)),
  previews('a picture of the most pixels in passes', (share) =>
    pictured(png(side(share), side(share), { interlaced: true })),
  ),
  previews('a picture whose profile and texts unpack to gigabytes', () => {
    const much = packed(150 * MB);
    return pictured(
      png(8, 8, { more: [chunk('iCCP', much), ...Array.from({ length: 6 }, () => chunk('zTXt', much))] }),
    );
  }),
  previews('drawings packed in themselves', () =>
    pictured(gzipSync(`<svg xmlns="http://www.w3.org/2000/svg">${'<g>'.repeat(MB)}</svg>`)),
  ),
  previews('a font of glyphs with the most points', () => written(fontOf(pointed(5_000)))),
  previews('a font of forty thousand character maps', () => written(fontOf(mapped(40_000, 1)))),
  documents('a picture of the most pixels', (share) => png(side(share), side(share))),
  documents('a picture of a million rows', (share) => png(16, 1_000_000 * share)),
  documents('a PDF of millions of rectangles', (share) =>
    pdfOf([{ width: 300, height: 400, content: '9 9 9 9 re f '.repeat(4_000_000 * share) }]),
  ),
  pages('a PDF whose unused objects unpack to gigabytes', (share) =>
    pdfFile([
      '<</Type/Catalog/Pages 2 0 R>>',
      '<</Type/Pages/Count 1/Kids[3 0 R]>>',
      '<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 100]/Contents 4 0 R/Resources<<>>>>',
      { head: '', stream: Buffer.from('0 0 50 50 re f') },
      ...Array.from({ length: 3 }, () => ({
        head: '/Type/ObjStm/N 1/First 4/Filter/FlateDecode',
        stream: deflateSync(Buffer.alloc(1_000 * MB * share), { level: 9 }),
      })),
    ]),
  ),
  documents('a raster of the most pixels, page after page', (share) =>
    rasterOf(...new Array<Buffer>(Math.ceil(500 * share)).fill(whitePage(4_000, 4_000))),
  ),
  documents('ZPL of graphics that unpack to the most that one may, a label each', (share) =>
    Buffer.from(`^XA${GRAPHIC(z64(7 * MB))}^XZ`.repeat(Math.ceil(300 * share))),
  ),
  documents('ZPL of a million comments', (share) =>
    Buffer.from(`^XA${'^FX'.repeat(1_000_000 * share)}^FDx^FS^XZ`),
  ),
  documents('ZPL of the most labels', (share) =>
    Buffer.from('^XA^FO9,9^A0,30^FDx^FS^XZ'.repeat(Math.ceil(2_000 * share))),
  ),
  documents('EPL2 of a million lines', (share) =>
    Buffer.from(`N\n${'X1,1,1,9,9\n'.repeat(300_000 * share)}P1\n`),
  ),
  documents('TSPL2 of one text that does not end', (share) =>
    Buffer.from(`CLS\nTEXT 1,1,"3",0,1,1,"${'\\["]'.repeat(700_000 * share)}\nPRINT 1\n`),
  ),
];
