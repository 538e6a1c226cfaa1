/** The table of languages that a label can be sent in. Drawing code is loaded only when an encoder is opened. */
import { type LanguageId, languageId } from '../../src/contract/format.ts';
import { labelsOnSheet, type QueuedJob } from '../../src/contract/queued-job.ts';
import { epl } from './epl/language.ts';
import type { LabelEncoder, Language } from './language.ts';
import { pdf } from './pdf/language.ts';
import { png } from './png/language.ts';
import { pwgRaster } from './pwg-raster/language.ts';
import { tspl } from './tspl/language.ts';
import { zpl } from './zpl/language.ts';

export const LANGUAGES: Readonly<Record<LanguageId, Language>> = {
  zpl,
  tspl,
  epl,
  pdf,
  'pwg-raster': pwgRaster,
  png,
};

export function printsPages(id: LanguageId): boolean {
  return LANGUAGES[id].prints === 'pages';
}

/** How many labels the printer puts on a page. */
export function labelsPerPage(job: Pick<QueuedJob, 'template' | 'format'>): number {
  return printsPages(job.format.language) ? labelsOnSheet(job) : 1;
}

const ofPages = (madeOf: Language['madeOf']) =>
  languageId.options.filter((id) => printsPages(id) && LANGUAGES[id].madeOf === madeOf);

/** The languages of pages that a print queue's driver converts for its printer. */
export const CONVERTIBLE: readonly LanguageId[] = ofPages('vectors');

/** The languages of dots. A queue's driver would scale the dots; a printer that is not told the format may print the bytes. */
export const PICTURES: readonly LanguageId[] = ofPages('dots');

/** The encoder of a job. @throws JobFaultError `template-invalid`, `language-unsupported` */
export async function openEncoder(job: QueuedJob): Promise<LabelEncoder> {
  const open = await LANGUAGES[job.format.language].encoder();
  return await open(job);
}
