/** What an integrator sees beside the interface: `GET /v2/templates`, `GET /v2/printers`, and the question of `GET /v2/jobs`. */
import { z } from 'zod';
import { languageId, printerFormat } from './format.ts';
import { jobCancel } from './job-actions.ts';
import { jobFilter } from './job-search.ts';
import { LIMITS } from './limits.ts';
import { labelRecord, orientation } from './print-request.ts';
import { printerReason } from './printer.ts';
import { printerView } from './printer-view.ts';
import { saying } from './reason.ts';
import { templateLanguage } from './template.ts';

/** Templates, or printers, on one page. */
const MOST_ON_PAGE = 100;

export const pageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(MOST_ON_PAGE).default(MOST_ON_PAGE),
  /** `next` of the page before: the last ID on it. */
  after: z
    .string()
    .regex(/^[\w.:-]{1,200}$/)
    .optional(),
});

const next = z
  .string()
  .nullable()
  .meta({ description: '`after` of the next page; null: this is the last one.' });

const integratorField = z.object({
  name: z.string(),
  printedAs: z.array(z.string()).meta({
    description:
      'What becomes of the value: `text`, `image` (it names a picture), `condition` (it decides what is drawn), or a ' +
      'barcode by its symbology. Empty for a raw ZPL template.',
  }),
  ifMissing: z
    .string()
    .nullable()
    .meta({ description: 'Printed where a record lacks the field; null: nothing.' }),
  sample: z.string().nullable(),
});

const integratorTemplate = z.object({
  id: z.string().meta({ description: 'The `idT` of a job.' }),
  name: z.string(),
  language: templateLanguage,
  size: z
    .object({ width: z.number(), height: z.number() })
    .nullable()
    .meta({ description: 'The label, mm; null: its ZPL does not say.' }),
  fields: z.array(integratorField),
  updatedAt: z.iso.datetime(),
});
export type IntegratorTemplate = z.infer<typeof integratorTemplate>;
export const integratorTemplates = z.object({ templates: z.array(integratorTemplate), next });

export const integratorPrinter = z.object({
  id: z.string().meta({ description: 'The `printerId` of a job.' }),
  name: z.string(),
  status: printerView.shape.status,
  reasons: z.array(printerReason),
  formats: z
    .array(printerFormat.pick({ id: true, name: true, language: true, dpi: true, width: true, height: true }))
    .meta({
      description:
        'The first is used where a job names none. `width` and `height` are those of the media, mm.',
    }),
});
export type IntegratorPrinter = z.infer<typeof integratorPrinter>;
export const integratorPrinters = z.object({ printers: z.array(integratorPrinter), next });

export const integratorJobsQuery = jobFilter.pick({
  status: true,
  printer: true,
  since: true,
  until: true,
  limit: true,
  after: true,
});
export const integratorCancel = jobCancel.pick({ why: true });

// POST /v2/labels
/** Most records in one request for a picture: they are read on the thread that serves other people's requests. */
const MOST_PICTURE_RECORDS = 100;
const RECORDS = saying('records-between', { most: MOST_PICTURE_RECORDS });
const TEMPLATE_ID = saying('text-of', { most: 200 });
const DPI = saying('number-between', { least: 50, most: 1_200 });
const LABEL = saying('whole-number', { least: 0, most: LIMITS.records - 1 });

export const labelsRequest = z.strictObject({
  idT: z
    .string(TEMPLATE_ID)
    .min(1, TEMPLATE_ID)
    .max(200, TEMPLATE_ID)
    .meta({ description: 'ID of the saved template. Must exist in the tenant.' }),
  data: z
    .array(labelRecord, RECORDS)
    .min(1, RECORDS)
    .max(MOST_PICTURE_RECORDS, RECORDS)
    .optional()
    .meta({ description: 'Label records. Left out: one record of the fields’ defaults.' }),
  label: z
    .int(LABEL)
    .min(0, LABEL)
    // A record's document may have more pages than there may be records here.
    .max(LIMITS.records - 1, LABEL)
    .default(0)
    .meta({ description: 'Which record is drawn, from 0; of a document template: which page of all.' }),
  dpi: z
    .number(DPI)
    .min(50, DPI)
    .max(1_200, DPI)
    .default(203)
    .meta({ description: 'Dots an inch; each is a pixel.' }),
  orientation: orientation.default('portrait').meta({ description: 'How the label lies on the media.' }),
  language: languageId
    .extract(['png', 'pdf', 'zpl'])
    .default('png')
    .meta({ description: 'What the label is answered as.' }),
});
