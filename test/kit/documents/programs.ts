/** EPL2 and TSPL2 documents for tests: as label designers and carriers write them, and jobs that bring them. */
import { documentTemplate } from '../../../src/contract/document-template.ts';
import type { LanguageId } from '../../../src/contract/format.ts';
import type { LabelRecord } from '../../../src/contract/print-request.ts';
import type { QueuedJob } from '../../../src/contract/queued-job.ts';
import type { Reason } from '../../../src/contract/reason.ts';
import { documentPages } from '../../../src/render/document/document.ts';
import { PictureFault } from '../../../src/render/image/picture-fault.ts';
import { jobFor } from '../judges/judges.ts';

export type LineLanguageId = 'epl' | 'tspl';

export const base64 = (text: string) => Buffer.from(text, 'latin1').toString('base64');

export function programJob(
  records: readonly LabelRecord[],
  language: LanguageId,
  {
    page = {},
    fields = [{ name: 'document' }],
    ...more
  }: Partial<QueuedJob> & { page?: object; fields?: object[] } = {},
): QueuedJob {
  const source = documentTemplate.parse({ name: 'Carrier', language: 'document', fields, page });
  return { ...jobFor(source, records, { language }), ...more };
}

function deepest(reason: Reason | undefined): string {
  return reason?.why === undefined ? (reason?.code ?? '') : deepest(reason.why);
}

/** Why a program is refused, at its deepest; `taken`: it is not. */
export async function refusal(
  text: string,
  language: LineLanguageId,
  printerCommands = false,
): Promise<string> {
  try {
    await documentPages(base64(text), { said: language, printerCommands });
  } catch (error) {
    if (error instanceof PictureFault) return deepest(error.said);
    throw error;
  }
  return 'taken';
}

export const EPL_HEAD =
  '\r\nEPL2\r\nI8,A,001\r\nQ1218,24\r\nq812\r\nrN\r\nS3\r\nD7\r\nZT\r\nJF\r\nOD\r\nR0,0\r\nf100\r\n';
export const EPL_LABEL =
  'N\r\nLO10,377,800,2\r\nA452,20,0,4,1,1,N,"ZB\xdcRICH \\"1\\" OF 1"\r\nB120,770,0,1,3,8,200,N,"1Z999"\r\nP1\r\n';
export const TSPL_HEAD =
  'SIZE 101.6 mm, 152.4 mm\r\nGAP 3 mm,0 mm\r\nSPEED 4\r\nDENSITY 8\r\nSET RIBBON OFF\r\nSET TEAR ON\r\nDIRECTION 1,0\r\nREFERENCE 0,0\r\nOFFSET 0 mm\r\nSHIFT 0\r\n';
export const TSPL_LABEL =
  'CLS\r\nCODEPAGE 1252\r\nTEXT 10,10,"3",0,1,1,"Z\xdcRICH \\["]1\\["]"\r\nBARCODE 10,60,"128",80,1,0,2,2,"1Z999"\r\nPRINT 1,1\r\n';
