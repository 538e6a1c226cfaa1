/** What a record's document is: told by its bytes, of which no more are looked at than that takes. */
import { documentIn, documentPart } from '../../contract/document-pages.ts';
import type { LabelRecord } from '../../contract/print-request.ts';
import { because } from '../../contract/reason.ts';
import type { Template } from '../../contract/template.ts';
import { PictureFault } from '../image/picture-fault.ts';

/** Some programs write up to a kilobyte before a PDF begins. */
const HEAD = 1_024;

export function isPdf(base64: string): boolean {
  return Buffer.from(base64.slice(0, Math.ceil(HEAD / 3) * 4), 'base64').includes('%PDF-');
}

/** As label designers, drivers and carriers begin it: DLE and a mark of UTF-8 may stand before it. */
const ZPL = /^(?:\xef\xbb\xbf)?\x10?\s*(?:CT~|[\^~][A-Za-z]{2}|\^A[\d@])/;

export function isZpl(base64: string): boolean {
  return ZPL.test(Buffer.from(base64.slice(0, Math.ceil(HEAD / 3) * 4), 'base64').toString('latin1'));
}

/** Whether printers of the job may get ZPL that somebody else than Platen has written. */
export function bringsZpl(template: Template, records: readonly LabelRecord[]): boolean {
  if (template.language !== 'document') return template.language === 'zpl';
  return records.some((record) => isZpl(documentPart(documentIn(record, template)).base64));
}

/** Node leaves out what is no base64. @throws PictureFault */
export function requireBase64(text: string): void {
  if (text === '') throw new PictureFault(because('document-none', {}));
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text))
    throw new PictureFault(because('document-base64', {}));
}
