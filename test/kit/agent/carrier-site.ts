/** Jobs of a PDF document for tests: a page of 4 × 6 inches for each label, with what it says as a barcode and as text. */
import { pageRecords } from '../../../src/contract/document-pages.ts';
import { documentTemplate } from '../../../src/contract/document-template.ts';
import type { QueuedJob } from '../../../src/contract/queued-job.ts';
import { label } from '../documents/carrier.ts';
import { pdfOf } from '../documents/pdf.ts';
import { barcodesIn } from '../judges/pictures.ts';
import { jobFor } from './site.ts';

const MEDIA = { width: 101.6, height: 152.4 };
/** Of a printer whose media the labels fill. */
export const CARRIER_PRINTER = { ...MEDIA, dpi: 203 } as const;

export function carrierJob(printerId: string, says: readonly string[], copies = 1): QueuedJob {
  const pages = says.map((text) => ({ width: 288, height: 432, content: label(text) }));
  const document = pdfOf(pages).toString('base64');
  const template = documentTemplate.parse({
    name: 'Carrier',
    language: 'document',
    fields: [{ name: 'document' }],
  });
  const numbers = says.map((_, at) => at + 1);
  return {
    ...jobFor(printerId, 0, copies),
    template,
    format: { id: 'pdf-203-102x152', name: '4 × 6 in', language: 'pdf', dpi: 203, ...MEDIA },
    records: pageRecords({ document }, template, numbers, 0),
  };
}

/** What labels say that lie on disk as pictures, in their order. */
export async function saidOn(files: readonly string[]): Promise<(string | undefined)[]> {
  const codes = await Promise.all(files.map((file) => barcodesIn(file)));
  return codes.map(([code]) => code?.text);
}
