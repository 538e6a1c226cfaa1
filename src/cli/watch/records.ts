/** The records in a file of a watched folder; a document is one. */
import { constants, open } from 'node:fs/promises';
import { extname } from 'node:path';
import { z } from 'zod';
import type { TemplateView } from '../../contract/admin.ts';
import { type LabelRecord, labelRecord } from '../../contract/print-request.ts';
import { startThread } from '../../rendering/thread.ts';
import type { ReadingTask } from './reading-thread.ts';

/** The file cannot be printed as it is, and never will be. */
export class UnprintableFile extends Error {}

export class StillWritten extends Error {
  readonly code = 'still-written';

  constructor() {
    super('It is still being written.');
  }
}

/** Platen was updated or taken away while it ran: it can read no file any more, whatever is in it. */
export class ProgramGone extends Error {
  readonly code = 'program-gone';

  constructor(cause: Error) {
    super('The program was updated or taken away while it ran: start it again.', { cause });
  }
}

/** How Node says that a file of the program, or one that it needs, is not there. */
const GONE = new Set(['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND']);

/** What the name's end says that a file is, and the most bytes of one. */
const KINDS: Readonly<Record<string, { kind: ReadingTask['kind'] | 'document'; most: number }>> = {
  '.json': { kind: 'json', most: 20_000_000 },
  '.csv': { kind: 'table', most: 20_000_000 },
  '.tsv': { kind: 'table', most: 20_000_000 },
  '.xlsx': { kind: 'workbook', most: 10_000_000 },
  ...Object.fromEntries(
    ['.pdf', '.png', '.jpg', '.jpeg', '.zpl', '.epl', '.tspl', '.prn'].map((ending) => [
      ending,
      { kind: 'document', most: 20_000_000 } as const,
    ]),
  ),
};
/** ms and MB for reading one. */
const DEADLINE = 20_000;
const HEAP_MB = 768;

/**
 * The file's bytes. A link is not followed, and nothing but a file is opened for longer than it takes to see that.
 * @throws UnprintableFile; the system's error when it cannot be read now
 */
export async function bytesOf(path: string): Promise<Buffer<ArrayBuffer>> {
  const { most } = kindOf(path);
  // Without O_NONBLOCK a pipe that nobody writes into would be waited for. Windows has neither flag.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  await using handle = await open(path, flags);
  const stats = await handle.stat();
  const { size } = stats;
  if (!stats.isFile()) throw new UnprintableFile('It is no file.');
  if (size > most) {
    throw new UnprintableFile(`It has ${size} bytes; a file of its kind may have ${most}. Split it.`);
  }
  // One more than it should have shows that it grows.
  const buffer = Buffer.alloc(size + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length);
    length += bytesRead;
    if (bytesRead === 0 || length > size) break;
  }
  if (length !== size) throw new StillWritten();
  return buffer.subarray(0, size);
}

function kindOf(path: string) {
  const ending = extname(path).toLowerCase();
  const kind = Object.hasOwn(KINDS, ending) ? KINDS[ending] : undefined;
  if (kind !== undefined) return kind;
  throw new UnprintableFile(
    `From a watched folder Platen prints files that end in ${Object.keys(KINDS).join(', ')}.`,
  );
}

/** Whether the file is one record as a whole. @throws UnprintableFile */
export function isDocument(path: string): boolean {
  return kindOf(path).kind === 'document';
}

const answered = z.union([
  z.object({ records: z.array(labelRecord).min(1) }),
  z.object({ fault: z.string() }),
]);

/**
 * @param template whose fields are in the columns of a table, or which prints documents
 * @throws UnprintableFile; ProgramGone
 */
export async function recordsFrom(
  path: string,
  bytes: Uint8Array<ArrayBuffer>,
  { language, fields }: Pick<TemplateView, 'language' | 'fields'>,
): Promise<LabelRecord[]> {
  const { kind } = kindOf(path);
  if (kind === 'document') {
    const [field] = fields;
    if (language === 'document' && field !== undefined)
      return [{ [field]: Buffer.from(bytes).toString('base64') }];
    throw new UnprintableFile(
      'It is a document, and the template prints none: have a folder with a template whose language is "document".',
    );
  }
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const worker = startThread<unknown>({
    file: new URL('./reading-thread.ts', import.meta.url),
    heapMb: HEAP_MB,
    workerData: { bytes, kind, fields: [...fields] } satisfies ReadingTask,
    answered: resolve,
    failed: (error, outOfMemory) => {
      const gone = 'code' in error && GONE.has(String(error.code));
      if (gone) reject(new ProgramGone(error));
      else reject(new UnprintableFile(outOfMemory ? 'It has more in it than can be read.' : error.message));
    },
    exited: () => reject(new UnprintableFile('It cannot be read.')),
  });
  const late = setTimeout(
    () => reject(new UnprintableFile(`It is not read after ${DEADLINE / 1000} s.`)),
    DEADLINE,
  );
  try {
    const answer = answered.safeParse(await promise);
    if (!answer.success) throw new UnprintableFile(z.prettifyError(answer.error));
    if ('fault' in answer.data) throw new UnprintableFile(answer.data.fault);
    return answer.data.records;
  } finally {
    clearTimeout(late);
    await worker.terminate();
  }
}
