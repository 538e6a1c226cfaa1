/** Labels of ZPL documents. */
import { JobFaultError } from '../../contract/fault.ts';
import { because } from '../../contract/reason.ts';
import { readZplDocument, type ZplDocument } from '../../zpl/raw/document.ts';
import { PictureFault } from '../image/picture-fault.ts';
import { PageThread } from './page-thread.ts';
import type { ZplOrder } from './zpl-worker.ts';

/** Whose rules a document is read by. */
export interface ZplRules {
  /** Names what the document downloads into the printer. */
  readonly jobId?: string;
  /** The tenant may set printers up. */
  readonly printerCommands?: boolean;
}

/** The last document: its labels come one after the other. */
let last: { base64: string; key: string; document: ZplDocument } | undefined;
let clearing: NodeJS.Timeout | undefined;
/** ms that it is kept for the next label. */
const KEPT = 10_000;

const thread = new PageThread<ZplOrder, Uint8Array>(
  new URL('./zpl-worker.ts', import.meta.url),
  because('document-zpl-broken', {}),
);

/** @throws PictureFault */
export function zplDocument(base64: string, { jobId = '', printerCommands = false }: ZplRules): ZplDocument {
  const key = `${jobId} ${printerCommands}`;
  if (last?.key !== key || last.base64 !== base64) {
    const document = saidOf(() => readZplDocument(Buffer.from(base64, 'base64'), { jobId, printerCommands }));
    last = { base64, key, document };
  }
  clearTimeout(clearing);
  clearing = setTimeout(() => {
    last = undefined;
  }, KEPT).unref();
  return last.document;
}

/** What a ZPL printer gets for a label. */
export interface ZplText {
  /** Goes before the label; where it is the first of its document that is sent, all that goes before the document. */
  readonly before: string;
  /** The label; its bytes are characters (latin1). */
  readonly label: string;
  /** The names of what the document stores in the printer until the job is done. */
  readonly objects: readonly string[];
}

/**
 * @param start the commands that put a printer into the state of one that was just switched on, for use inside a format
 * @param first the label is the first of its document that is sent
 * @throws PictureFault
 */
export function zplText(
  document: ZplDocument,
  { page, copies, start, first }: { page: number; copies: number; start: string; first: boolean },
): ZplText {
  const { labels, downloads, objects } = document;
  const label = labels[page - 1];
  if (label === undefined)
    throw new PictureFault(because('document-no-page', { page, pages: labels.length }));
  const setUp = labels
    .slice(first ? 0 : page - 1, page)
    .map((one) => one.setUp)
    .join('');
  return {
    before: `${first ? downloads : ''}^XA${setUp}${start}${label.state}^XZ`,
    label: saidOf(() => label.zpl(copies)),
    objects,
  };
}

/** Has the thread loaded, which takes a busy machine seconds, before the time of who waits for a picture begins. */
export async function loadZplPages(): Promise<void> {
  await thread.ask({ zpl: new Uint8Array(), dpi: 203, width: 8, height: 8 });
}

/** The picture of a label, a PNG. @throws PictureFault */
export async function zplPicture(
  document: ZplDocument,
  page: number,
  media: Omit<ZplOrder, 'zpl'>,
): Promise<Uint8Array> {
  const { before, label } = zplText(document, { page, copies: 1, start: '', first: true });
  return await thread.ask({ zpl: Buffer.from(before + label, 'latin1'), ...media });
}

/** @throws PictureFault for what the rules of raw templates refuse */
function saidOf<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof JobFaultError && error.fault.reason !== undefined)
      throw new PictureFault(error.fault.reason);
    throw error;
  }
}
