/** Labels of ZPL documents. */
import { because } from '../../contract/reason.ts';
import type { LabelProgram } from '../../programs/program.ts';
import { PageThread } from './page-thread.ts';
import { type ProgramPart, programPart } from './programs.ts';
import type { ZplOrder } from './zpl-worker.ts';

const thread = new PageThread<ZplOrder, Uint8Array>(
  new URL('./zpl-worker.ts', import.meta.url),
  because('document-zpl-broken', {}),
);

/**
 * What a ZPL printer gets for a label, with one character for each byte (latin1).
 * @param start the commands that put a printer into the state of one that was just switched on, for use inside a format
 */
export function zplText({ downloads, setUp, state, label }: ProgramPart, start: string): string {
  return `${downloads}^XA${setUp}${start}${state}^XZ${label}`;
}

/** Loads the thread. On a busy machine that takes seconds, so it is done before anybody's time for a picture begins to run. */
export async function loadZplPages(): Promise<void> {
  await thread.ask({ zpl: new Uint8Array(), dpi: 203, width: 8, height: 8 });
}

/** Draws a label as a PNG. @throws PictureFault */
export async function zplPicture(
  program: LabelProgram,
  page: number,
  media: Omit<ZplOrder, 'zpl'>,
): Promise<Uint8Array> {
  const text = zplText(programPart(program, { page, copies: 1, first: true }), '');
  return await thread.ask({ zpl: Buffer.from(text, 'latin1'), ...media });
}
