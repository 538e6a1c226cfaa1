/** What of strangers' pages goes to a printer of vectors, and which pages go as a picture. */
import { PDFDocument } from '@cantoo/pdf-lib';
import { describe, expect, test } from 'vitest';
import { openEncoder } from '../../drivers/languages/index.ts';
import { documentTemplate } from '../../src/contract/document-template.ts';
import { type PdfObject, pdfFile } from '../kit/documents/pdf.ts';
import { jobFor, pdfText } from '../kit/judges/judges.ts';
import { difference, pageDots } from '../kit/judges/page-dots.ts';

const template = documentTemplate.parse({
  name: 'Carrier',
  language: 'document',
  fields: [{ name: 'document' }],
});

async function printed(file: Uint8Array, language: 'pdf' | 'png' = 'pdf'): Promise<Buffer> {
  const document = `${Buffer.from(file).toString('base64')}#page=1`;
  const encoder = await openEncoder(jobFor(template, [{ document }], { language }));
  return Buffer.from(await encoder.label(0, 1));
}

const isForm = (pdf: Buffer) => pdf.includes('/Subtype/Form');

interface Page {
  readonly catalog?: string;
  readonly page?: string;
  readonly resources?: string;
  readonly content?: string;
  /** Objects from number 5 on. */
  readonly more?: readonly PdfObject[];
}

/** A page of 4 × 6 inches with a square in its corner. */
function pageOf({ catalog = '', page = '', resources = '', content = '', more = [] }: Page): Buffer {
  return pdfFile([
    `<</Type/Catalog/Pages 2 0 R${catalog}>>`,
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 288 432]/Contents 4 0 R/Resources<<${resources}>>${page}>>`,
    { head: '', stream: Buffer.from(`0 0 50 50 re f\n${content}`) },
    ...more,
  ]);
}

const form = (content: string, head = ''): PdfObject => ({
  head: `/Type/XObject/Subtype/Form/BBox[0 0 288 432]${head}`,
  stream: Buffer.from(content),
});
const helvetica = '/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>';
const text = 'BT /F 12 Tf 20 200 Td (Text) Tj ET';
const group = '/Group<</S/Transparency/CS/DeviceGray>>';
const masked = (more = '') => ({
  resources: `/ExtGState<</G<</SMask<</S/Luminosity/G 5 0 R${more}>>>>>>`,
  content: '/G gs 100 100 100 100 re f',
  more: [form('0.5 g 100 100 50 100 re f', group)],
});
const layer = (state: 'ON' | 'OFF') => ({
  catalog: `/OCProperties<</OCGs[5 0 R]/D<</${state}[5 0 R]>>>>`,
  resources: '/Properties<</L 5 0 R>>',
  content: '/OC /L BDC 0.9 g 100 100 50 50 re f EMC',
  more: ['<</Type/OCG/Name(Layer)>>'],
});

describe('a form', () => {
  test.each<[string, Page]>([
    ['of shapes', {}],
    ['with a font that every printer has', { resources: helvetica, content: text }],
    ['with a layer that is seen', layer('ON')],
    ['with a soft mask', masked()],
    [
      'with a form of its own',
      {
        resources: '/XObject<</X 5 0 R>>',
        content: '/X Do',
        more: [form(text, `/Resources<<${helvetica}>>`)],
      },
    ],
    [
      'in several streams',
      {
        page: '/Contents[4 0 R 5 0 R 4 0 R]',
        more: [
          { head: '', stream: Buffer.from('2 0 0 2 50 50') },
          { head: '', stream: Buffer.from(' cm') },
        ],
      },
    ],
  ])('%s', async (_, page) => {
    const pdf = await printed(pageOf(page));
    expect(isForm(pdf)).toBe(true);
    expect(difference(pageDots(pdf), pageDots(pageOf(page)))).toBeLessThan(0.001);
  });
});

describe('a picture of', () => {
  test.each<[string, Page]>([
    ['a layer that is not seen, however light', layer('OFF')],
    [
      'a stamp beside the content',
      {
        page: '/Annots[<</Type/Annot/Subtype/Stamp/F 4/Rect[100 100 200 200]/AP<</N 5 0 R>>>>]',
        more: [form('0.95 g 0 0 288 432 re f')],
      },
    ],
    [
      'a font of the machine',
      { resources: '/Font<</F<</Type/Font/Subtype/TrueType/BaseFont/Arial>>>>', content: text },
    ],
    ['a font that is not there', { content: text }],
    ['a font without a name', { resources: '/Font<</F<</Type/Font/Subtype/Type1>>>>', content: text }],
    [
      'a form that takes the fonts of its page',
      { resources: `${helvetica}/XObject<</X 5 0 R>>`, content: '/X Do', more: [form(text)] },
    ],
    [
      'PostScript',
      {
        resources: '/XObject<</X 5 0 R>>',
        content: '/X Do',
        more: [{ head: '/Type/XObject/Subtype/P#53', stream: Buffer.from('showpage') }],
      },
    ],
    [
      'a mask that is turned round by a function',
      masked('/TR<</FunctionType 2/Domain[0 1]/N 1/C0[1]/C1[0]>>'),
    ],
    [
      'what is nested without end',
      { resources: `/ColorSpace<</C ${'['.repeat(20_000)}${']'.repeat(20_000)}>>` },
    ],
  ])('%s', async (_, page) => {
    const pdf = await printed(pageOf(page));
    expect(isForm(pdf)).toBe(false);
    expect(pdf.includes('/Subtype /Image')).toBe(true);
    expect(await pdfText(pdf)).not.toContain('Text');
  });

  test('a page that opens without a password, but is encrypted', async () => {
    const document = await PDFDocument.create();
    document.addPage([288, 432]).drawText('Text', { x: 20, y: 200 });
    document.encrypt({ ownerPassword: 'owner', userPassword: '' });
    const pdf = await printed(await document.save({ useObjectStreams: false }));
    expect(isForm(pdf)).toBe(false);
    expect(pdf.includes('/Subtype /Image')).toBe(true);
  });
});

test('nothing that does not draw goes to a printer', async () => {
  const script = '<</S/JavaScript/JS(app.alert\\(1\\))>>';
  const file = pageOf({
    catalog: `/OpenAction ${script}/Names<</EmbeddedFiles<</Names[(f) 6 0 R]>>/JavaScript<</Names[(j) ${script}]>>>>`,
    page: `/AA<</O ${script}>>/Annots[<</Type/Annot/Subtype/Link/Border[0 0 0]/Rect[0 0 9 9]/A<</S/URI/URI(http://a.example)>>>>]/PieceInfo<</X 7 0 R>>`,
    resources:
      '/XObject<</X 5 0 R>>/ExtGState<</G<</TR/Identity/HT/Default/OP true/LW 1>>>>/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica/AA 8 0 R>>>>',
    content: '/G gs q 99 0 0 99 0 0 cm /X Do Q',
    more: [
      {
        head: `/Type/XObject/Subtype/Image/Width 8/Height 1/BitsPerComponent 1/ColorSpace/DeviceGray/Alternates[<</Image 5 0 R/DefaultForPrinting true>>]/OPI<</2.0 7 0 R>>/Metadata 7 0 R/AF[6 0 R]/OC 9 0 R`,
        stream: Uint8Array.of(0),
      },
      '<</Type/Filespec/F(f)/EF<</F 7 0 R>>>>',
      { head: '/Type/EmbeddedFile', stream: Buffer.from('Attached') },
      script,
      '<</Type/OCG/Name(Layer)>>',
    ],
  });
  const pdf = await printed(file);
  expect(isForm(pdf)).toBe(true);
  const written = pdf.toString('latin1');
  expect(written).toContain('/LW 1');
  const forbidden =
    /\/(?:JS|JavaScript|AA|A|OpenAction|URI|EF|AF|Names|Annots|Alternates|OPI|Metadata|PieceInfo|OC|TR|HT|OP)\b|alert|Attached/;
  expect(forbidden.exec(written)?.[0]).toBeUndefined();
  expect(forbidden.exec(file.toString('latin1'))).not.toBeNull();
});
