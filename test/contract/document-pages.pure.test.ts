/** What is in the records of a document's pages: the file once, and what stands beside it once. */
import { expect, test } from 'vitest';
import { pageRecords, recordsAt } from '../../src/contract/document-pages.ts';
import { template } from '../../src/contract/template.ts';

const carrier = template.parse({ name: 'Carrier', language: 'document', fields: [{ name: 'document' }] });

test('the first page has the file and the other values; so has the first of those that are printed again', () => {
  const record = { order: '4711', document: 'JVBERg==' };
  const pages = pageRecords(record, carrier, [1, 2, 3], 5);
  expect(pages).toEqual([
    { order: '4711', document: 'JVBERg==#page=1' },
    { document: '#page=2&record=5' },
    { document: '#page=3&record=5' },
  ]);
  const job = [...Array.from({ length: 5 }, () => ({ document: 'AAAA' })), ...pages];
  expect(recordsAt(job, [6, 7], carrier)).toEqual([
    { order: '4711', document: 'JVBERg==#page=2' },
    { document: '#page=3&record=0' },
  ]);
});
