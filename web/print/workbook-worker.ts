/** Reads an Excel file beside the page, which ends this worker when it takes too long. */
import { readWorkbook, WorkbookTooLarge } from './workbook.ts';

addEventListener('message', ({ data }: MessageEvent<Uint8Array>) => {
  readWorkbook(data).then(
    (table) => postMessage({ table }),
    (error: unknown) =>
      postMessage({ fault: error instanceof WorkbookTooLarge ? 'too-large' : 'unreadable' }),
  );
});
