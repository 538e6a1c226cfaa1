/** A print job as PrintNode's clients send it: what it becomes here is a job of a document template that is in no list. */
import { z } from 'zod';
import { type DocumentTemplate, documentTemplate } from '../../contract/document-template.ts';
import { isPdf, programKind } from '../../render/document/document-file.ts';
import { DoorError } from '../door-error.ts';
import { MOST_NUMBER } from '../numbers.ts';
import { parseBody } from '../problems.ts';

/** What the jobs name as their template. */
const TEMPLATE_ID = 'printnode';
const FIELD = 'document';

const CONTENT_TYPES = ['pdf_base64', 'pdf_uri', 'raw_base64', 'raw_uri'] as const;
/** Characters of a title or a source that are kept. */
const LONGEST = 200;
/** s; PrintNode's own. */
const EXPIRES_AFTER = 14 * 24 * 3_600;

/** PostgreSQL stores neither a NUL nor half a surrogate pair. */
const words = z
  .string()
  .default('')
  .transform((text) => text.slice(0, LONGEST).replaceAll('\0', '').toWellFormed());

const printJob = z.object({
  printerId: z.int().min(0).max(MOST_NUMBER),
  contentType: z.enum(CONTENT_TYPES),
  content: z.string().min(1),
  title: words,
  source: words,
  qty: z.int().min(1).max(MOST_NUMBER).default(1),
  expireAfter: z.int().min(1).max(MOST_NUMBER).default(EXPIRES_AFTER),
  options: z
    .looseObject({
      copies: z.int().min(1).max(MOST_NUMBER).default(1),
      rotate: documentTemplate.shape.page.unwrap().shape.turn,
      pages: documentTemplate.shape.page.unwrap().shape.pages,
      paper: z.string().min(1).max(200).optional(),
      fit_to_page: z.boolean().default(false),
    })
    .prefault({}),
  authentication: z
    .object({
      type: z.literal('BasicAuth'),
      credentials: z.object({ user: z.string().max(500), pass: z.string().max(500) }),
    })
    .nullish(),
});
export type PrintJob = z.output<typeof printJob>;
const HONOURED = ['copies', 'rotate', 'pages', 'paper', 'fit_to_page'];

/** @throws ProblemError `body-missing`, `payload-invalid` */
export function printJobOf(body: unknown): PrintJob {
  return parseBody(printJob, body);
}

/** The options that say nothing here, by their names. */
export function ignoredOf({ options }: PrintJob): string[] {
  return Object.keys(options).filter((name) => !HONOURED.includes(name) && /^\w{1,40}$/.test(name));
}

export function templateOf({ options: { rotate, pages, fit_to_page } }: PrintJob): DocumentTemplate {
  return documentTemplate.parse({
    name: 'PrintNode document',
    language: 'document',
    fields: [{ name: FIELD }],
    page: { turn: rotate, fit: fit_to_page ? 'shrink' : 'none', ...(pages !== undefined && { pages }) },
  });
}

/** As `POST /v2/jobs` takes it. By its title people find the job. @param document base64. @throws DoorError 400 */
export function requestOf(
  { contentType, options: { copies, paper }, qty, title }: PrintJob,
  printerId: string,
  document: string,
) {
  const base64 = document.replaceAll(/\s+/g, '');
  const raw = contentType.startsWith('raw_');
  const isRight = raw ? programKind(base64) !== undefined : isPdf(base64);
  const expected = raw ? 'ZPL, EPL2 or TSPL2' : 'a PDF';
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64) || !isRight)
    throw new DoorError(400, `content is not as expected for ${contentType}: ${expected}`);
  return {
    ...{ idT: TEMPLATE_ID, printerId, orientation: 'portrait', numberCopies: copies * qty },
    ...(paper !== undefined && { format: paper }),
    data: [{ [FIELD]: base64, ...(title !== '' && { title }) }],
  };
}
