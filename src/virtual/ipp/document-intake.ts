/** Receives documents for jobs of a virtual printer: how long they may be, and what aborts the job. */
import { type DocumentKind, type IppDocumentSource, tooLarge, unzipped } from '../../ipp/document.ts';
import { IppRefusal } from '../../ipp/refusal.ts';
import type { IppJob, SpooledDocument } from './job.ts';
import { detect } from './sheets.ts';
import type { IppSpool } from './spool.ts';

/**
 * Reads the document into the job. Any error on the way ends the job.
 * @param limit most bytes, as received and when decompressed. @throws IppRefusal, or what `source` throws
 */
export async function receiveDocument(
  spool: IppSpool,
  job: IppJob,
  source: IppDocumentSource,
  { format, zipped }: DocumentKind,
  limit: number,
): Promise<void> {
  try {
    const bytes = await source.read((count) => {
      spool.receive(job, count);
      if (job.octets > limit) throw tooLarge(limit);
    });
    // The job was canceled while the document came; the sender is told so.
    if (job.over) throw new IppRefusal('server-error-job-canceled', `job ${job.id} is ${job.state}`);
    const content = zipped ? await unzipped(bytes, limit) : bytes;
    spool.receive(job, content.length - bytes.length);
    job.document = documentOf(content, format);
  } catch (error) {
    if (!job.over) {
      const refused = error instanceof IppRefusal;
      const reasons = refused ? ['aborted-by-system'] : ['aborted-by-system', 'submission-interrupted'];
      spool.end(job, 'aborted', reasons, refused ? error.message : 'the connection broke');
    }
    throw error;
  }
  spool.received(job);
}

function documentOf(bytes: Buffer, format: string): SpooledDocument {
  if (format === 'application/pdf' || format === 'application/vnd.zebra-zpl') return { format, bytes };
  const detected = detect(bytes);
  if (!detected) {
    throw new IppRefusal('client-error-document-format-not-supported', 'neither PDF nor ZPL');
  }
  return { format: detected, bytes };
}
