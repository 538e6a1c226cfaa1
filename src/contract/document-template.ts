/** Document templates: each record brings a file that others have made, and the template says what of it is printed. */
import { z } from 'zod';
import { LIMITS } from './limits.ts';
import { saying } from './reason.ts';
import { dpi, length, rotation, templateField } from './template-members.ts';
import { templateName } from './template-name.ts';

/** Of a page, mm from its top left corner. */
const pageRegion = z.strictObject({
  x: z.number().min(0).max(LIMITS.labelSide),
  y: z.number().min(0).max(LIMITS.labelSide),
  width: length,
  height: length,
});

export const documentTemplate = z.strictObject({
  name: templateName,
  language: z.literal('document'),
  /** The label, mm; left out: as large as the media. */
  width: length.optional(),
  height: length.optional(),
  /** The resolution of pictures and of ZPL, whatever their files say. Left out: what the file says, else the printer's. */
  dpi,
  /**
   * The field that holds the document: PDF, PNG, JPEG, PWG raster, ZPL, EPL2 or TSPL2, base64 without a `data:` prefix. A second one says
   * which of these it is, where its bytes do not.
   */
  fields: z
    .array(templateField)
    .min(1, { error: saying('document-field', {}) })
    .max(2, { error: saying('document-field', {}) })
    .refine(([one, other]) => other === undefined || one?.name !== other.name, {
      error: saying('fields-same-name', {}),
    }),
  page: z
    .strictObject({
      /** The pages of a PDF or a raster, the labels of ZPL, EPL2 or TSPL2, each a label. Left out: all. A picture is one page. */
      pages: z
        .string()
        .max(200)
        .regex(/^[1-9]\d{0,3}(?:-(?:[1-9]\d{0,3})?)?(?:,[1-9]\d{0,3}(?:-(?:[1-9]\d{0,3})?)?)*$/, {
          error: saying('page-numbers', {}),
        })
        .optional(),
      /** What is printed of the page; `ink`: the box of all that is black on it. Left out: all of it. */
      region: z.union([z.literal('ink'), pageRegion], { error: saying('page-region', {}) }).optional(),
      /** Of the region. */
      turn: rotation,
      /**
       * `none`: in its own size, and black dots that the label has no room for are an error. `shrink`: smaller where it
       * has to be. `fill`: as large as the label lets it be.
       */
      fit: z.enum(['none', 'shrink', 'fill']).default('none'),
      /** How grey becomes black or white. */
      halftone: z.enum(['threshold', 'dither']).default('threshold'),
    })
    .prefault({}),
});
export type DocumentTemplate = z.infer<typeof documentTemplate>;
