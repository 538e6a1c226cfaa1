/** PDF documents that would take all time or memory: each is refused within its bounds. */
import { deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { documentTemplate } from '../../src/contract/document-template.ts';
import { JobFaultError } from '../../src/contract/fault.ts';
import { compileDocument } from '../../src/render/document/document.ts';
import { pdfFile, pdfOf } from '../kit/documents/pdf.ts';

const template = documentTemplate.parse({
  name: 'Carrier',
  language: 'document',
  fields: [{ name: 'document' }],
});
const MEDIA = { width: 101.6, height: 152.4 };
const small = { width: 100, height: 100 };

async function refusal(file: Buffer): Promise<string> {
  const { layout } = compileDocument(template, { dpi: 203, orientation: 'portrait', media: MEDIA });
  try {
    await layout({ document: `${file.toString('base64')}#page=1` });
    return 'drawn';
  } catch (error) {
    if (error instanceof JobFaultError) return error.fault.reason?.code ?? error.fault.code;
    throw error;
  }
}

test('10,000 pages', async () => {
  const file = pdfOf(Array.from({ length: 10_000 }, () => ({ ...small, content: '' })));
  expect(await refusal(file)).toBe('document-pages');
});

test('a picture of 20,000²', async () => {
  const vast = { width: 20_000, height: 20_000, data: deflateSync(Buffer.alloc(8)) };
  const file = pdfOf([{ ...small, content: 'q 100 0 0 100 0 0 cm /S0 Do Q' }], [vast]);
  expect(await refusal(file)).toBe('document-faulty');
});

test('content that never ends', async () => {
  const file = pdfOf([{ ...small, content: '0 0 9 9 re f\n'.repeat(8_000_000) }]);
  // Which of the bounds it meets first goes by the machine's load.
  expect(['draws-long', 'draws-much']).toContain(await refusal(file));
});

test('what only taking a page out would unpack: the page is printed, as its picture', async () => {
  const objects = deflateSync(Buffer.alloc(1_500_000_000), { level: 9 });
  const file = pdfFile([
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 100]/Contents 4 0 R/Resources<<>>>>',
    { head: '', stream: Buffer.from('0 0 50 50 re f') },
    { head: '/Type/ObjStm/N 1/First 4/Filter/FlateDecode', stream: objects },
  ]);
  expect(file.length).toBeLessThan(3_000_000);
  const target = { dpi: 203, orientation: 'portrait', media: MEDIA, language: 'pdf' } as const;
  const { layout } = compileDocument(template, target);
  const document = `${file.toString('base64')}#page=1`;
  const first = await layout({ document });
  expect([first.items.length, first.form]).toEqual([1, undefined]);
  const whole = pdfOf([{ ...small, content: '0 0 50 50 re f' }]).toString('base64');
  expect((await layout({ document: `${whole}#page=1` })).form).toBeDefined();
});
