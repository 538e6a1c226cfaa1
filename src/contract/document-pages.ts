/**
 * A record of a document template prints one page, so that a page is a label as any other. The service makes a record of
 * each page of a PDF. The first holds the file, `<base64>#page=1`; the others say which record of the job does:
 * `#page=2&record=0`.
 */
import type { LabelRecord } from './print-request.ts';
import { documentField, type Template } from './template.ts';

interface DocumentPart {
  /** Empty where another record holds the file. */
  readonly base64: string;
  /** From 1; undefined: nobody has looked yet how many there are. */
  readonly page: number | undefined;
  /** The index of the record that holds the file; undefined: this one. */
  readonly record: number | undefined;
}

/** Characters of the longest ending. */
const LONGEST = 40;

export function documentPart(text: string): DocumentPart {
  const end = text.slice(-LONGEST);
  const [ending, page, record] = /#page=(\d{1,9})(?:&record=(\d{1,9}))?$/.exec(end) ?? [];
  if (ending === undefined) return { base64: text, page: undefined, record: undefined };
  return {
    base64: text.slice(0, text.length - ending.length),
    page: Number(page),
    record: record === undefined ? undefined : Number(record),
  };
}

export function documentText(base64: string, page: number): string {
  return `${base64}#page=${page}`;
}

function referring(page: number, record: number): string {
  return `#page=${page}&record=${record}`;
}

/** What the record brings, or the template's default. */
export function documentIn(record: LabelRecord, template: Template): string {
  const field = documentField(template);
  if (field === undefined) return '';
  const value = Object.hasOwn(record, field) ? record[field] : undefined;
  return String(value ?? template.fields[0]?.default ?? '');
}

/** What the record says that its document is, in the template's second field; undefined: its bytes say it. */
export function documentSaid(record: LabelRecord, template: Template): string | undefined {
  const [, field] = template.language === 'document' ? template.fields : [];
  if (field === undefined) return undefined;
  const value = Object.hasOwn(record, field.name) ? record[field.name] : undefined;
  return String(value ?? field.default ?? '').toLowerCase();
}

/**
 * A record for each of these pages. The file and the record's other values, by which jobs are found, are in the first alone: a
 * small file may have thousands of pages.
 * @param at the index of the first of them in the job
 */
export function pageRecords(
  record: LabelRecord,
  template: Template,
  pages: readonly number[],
  at: number,
): LabelRecord[] {
  const field = documentField(template);
  if (field === undefined) return [record];
  const { base64 } = documentPart(documentIn(record, template));
  return pages.map((page, number) =>
    number === 0 ? { ...record, [field]: documentText(base64, page) } : { [field]: referring(page, at) },
  );
}

/** Some records of a job as the records of another: a file and its values go with the first of its pages. */
export function recordsAt(
  records: readonly LabelRecord[],
  chosen: readonly number[],
  template: Template,
): LabelRecord[] {
  const field = documentField(template);
  const places = new Map<number, number>();
  return chosen.map((index, at) => {
    const record = records[index] ?? {};
    if (field === undefined) return record;
    const { page, record: from } = documentPart(documentIn(record, template));
    if (page === undefined) return record;
    const holder = from ?? index;
    const place = places.get(holder);
    if (place !== undefined) return { ...record, [field]: referring(page, place) };
    places.set(holder, at);
    const held = records[holder] ?? {};
    const { base64 } = documentPart(documentIn(held, template));
    return { ...held, [field]: documentText(base64, page) };
  });
}

/**
 * The pages that the template chooses, in its order.
 * @param chosen as `page.pages` of a document template
 * @param count how many pages the document has
 */
export function chosenPages(chosen: string | undefined, count: number): number[] {
  const ranges = (chosen ?? '1-').split(',').map((range) => {
    const [first = '1', last = first] = range.split('-');
    return { from: Number(first), to: last === '' ? count : Number(last) };
  });
  return ranges.flatMap(({ from, to }) => {
    // The first page that there is not cannot be printed, and says so.
    const last = Math.min(to, Math.max(count + 1, from));
    return Array.from({ length: Math.max(0, last - from + 1) }, (_, at) => from + at);
  });
}
