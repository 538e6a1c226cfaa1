/** A worker that reads an Excel file. The page ends the worker if it takes too long. */
import { TableTooLarge } from '../../src/tables/table.ts';
import { readWorkbook } from '../../src/tables/workbook.ts';

addEventListener('message', ({ data }: MessageEvent<Uint8Array>) => {
  readWorkbook(data).then(
    (table) => postMessage({ table }),
    (error: unknown) => postMessage({ fault: error instanceof TableTooLarge ? 'too-large' : 'unreadable' }),
  );
});
