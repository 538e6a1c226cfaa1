/** Turns documents into labels: pages of a PDF, formats of ZPL. Each is drawn only when it is asked for. */

import { dots } from '../../contract/dots.ts';
import type { JobTicket } from '../../ipp/ticket.ts';
import { download } from '../../zpl/interpreter/download.ts';
import { type MediaDots, planLabel } from '../../zpl/interpreter/label-plan.ts';
import type { PrinterMemory } from '../../zpl/interpreter/printer-memory.ts';
import { defaultSyntax, type ZplEvent, type ZplFormat, ZplStream } from '../../zpl/stream.ts';
import { LabelPictures } from '../drawing/label-pictures.ts';
import { pdfDocument, pdfPool } from '../drawing/pdf-pool.ts';
import type { DocumentFault, PdfPageReply } from '../drawing/pdf-protocol.ts';
import type { Sheet } from '../machine/mechanism.ts';
import { inStretches, stretchIsOver } from '../machine/stretch.ts';
import type { DocumentFormat, SpooledDocument } from './job.ts';

/** A document that cannot be printed, or not to its end. */
export class DocumentError extends Error {
  readonly fault: DocumentFault;

  constructor(fault: DocumentFault, message: string) {
    super(message);
    this.name = 'DocumentError';
    this.fault = fault;
  }
}

/** Bytes of ZPL that are parsed before the formats in them are printed: a few can ask for much work. */
const SLICE = 16;
/** How far into a file `%PDF-` may stand (ISO 32000-1 Annex H, implementation note 13). */
const PDF_HEAD = 1024;

/** What a document is by its first bytes; undefined: nothing that can be printed. */
export function detect(document: Buffer): DocumentFormat | undefined {
  const head = document.subarray(0, PDF_HEAD).toString('latin1');
  if (head.includes('%PDF-')) return 'application/pdf';
  if (/^[\s\x02\x03]*(?:\^[A-Z]{2}|~[A-Z]{2}|! U1 )/i.test(head)) return 'application/vnd.zebra-zpl';
  return undefined;
}

/** The labels of one copy of a document. @throws DocumentError, when it comes to the page in question */
export function sheetsOf(
  document: SpooledDocument,
  ticket: JobTicket,
  dpi: number,
  memory: PrinterMemory,
): AsyncGenerator<Sheet, void, void> {
  const media = {
    dpi,
    width: dots(ticket.roll.width, dpi),
    height: dots(ticket.roll.height, dpi),
  };
  return document.format === 'application/pdf'
    ? pages(document.bytes, ticket, media)
    : labels(document.bytes, media, memory);
}

async function* pages(
  content: Buffer,
  ticket: JobTicket,
  media: MediaDots,
): AsyncGenerator<Sheet, void, void> {
  const document = pdfDocument(content);
  const order = { ...media, document, rotation: ticket.rotation, fit: ticket.scaling === 'fit' };
  let count = 1;
  for (let page = 1; page <= count; page++) {
    const reply: PdfPageReply = await pdfPool.draw({ ...order, page }).catch((error: unknown) => {
      throw new DocumentError('document-unprintable-error', `page ${page}: ${String(error)}`);
    });
    if ('fault' in reply) throw new DocumentError(reply.fault, `page ${page}: ${reply.message}`);
    count = reply.pages;
    yield { png: reply.png, raw: { extension: 'pdf', content }, faults: [] };
  }
}

async function* labels(
  content: Buffer,
  media: MediaDots,
  memory: PrinterMemory,
): AsyncGenerator<Sheet, void, void> {
  const events: ZplEvent[] = [];
  const stream = new ZplStream(defaultSyntax(), content.length, (event) => events.push(event));
  const refused: string[] = [];
  for (let at = 0; at < content.length; at += SLICE) {
    if (stretchIsOver()) await inStretches();
    stream.push(content.subarray(at, at + SLICE));
    for (const event of events.splice(0)) {
      if (event.kind === 'format') yield* formatSheets(event.format, media, memory, refused.splice(0));
      if (event.kind !== 'control') continue;
      const why = download(event.name, event.params, memory);
      if (why !== undefined) refused.push(why);
    }
  }
}

/** `refused`: downloads before the format that were not stored; they show on its labels. */
async function* formatSheets(
  format: ZplFormat,
  media: MediaDots,
  memory: PrinterMemory,
  refused: readonly string[],
): AsyncGenerator<Sheet, void, void> {
  const plan = planLabel(format, memory, media);
  if (!plan) return;
  const pictures = new LabelPictures(plan, media, refused);
  for (let index = 0; index < plan.quantity; index++) {
    yield { ...(await pictures.of(index)), raw: format.raw };
  }
}
