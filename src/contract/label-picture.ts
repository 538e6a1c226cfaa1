/**
 * Pictures of labels, made of the dots that the printer gets: `GET /app/jobs/{id}/labels/{n}.png` (n from 0), and of a
 * template with any record, `POST /app/tenants/{id}/templates/preview`.
 */
import { z } from 'zod';
import { labelRecord, orientation } from './print-request.ts';
import { fileName } from './template-files.ts';
import { templateProblem } from './template-problem.ts';

/** Without `width`, every dot is a pixel. */
export const pictureQuery = z.strictObject({
  /** Pixels: a smaller picture in greys; never larger than the label has dots. */
  width: z.coerce.number().int().min(16).max(4_000).optional(),
});

export const previewRequest = z.strictObject({
  /** A template, as it would be imported, or with names in place of files; or the ID of a saved one. */
  template: z.unknown().optional(),
  templateId: z.string().min(1).max(200).exactOptional(),
  /** Left out: the samples of the template's fields. */
  record: labelRecord.exactOptional(),
  dpi: z.number().min(50).max(1_200).default(203),
  orientation: orientation.default('portrait'),
  width: z.int().min(16).max(4_000).exactOptional(),
});
export type PreviewRequest = z.infer<typeof previewRequest>;

const dotBox = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() });

/** The box of all of an element's ink, in dots from the top left corner of the label as it is designed. */
const elementBox = dotBox.extend({
  /** JSON pointer into the template: `/elements/3`. */
  pointer: z.string(),
  /** Of text, whose box has room for any letter: the box from its first black dot to its last. */
  ink: dotBox.exactOptional(),
  /** What a ZPL printer draws itself: text in its own font, which is not quite this one, or the same bars. */
  printer: z.enum(['text', 'bars']).exactOptional(),
  /** It does not fit, and is drawn all the same: it would not print. */
  refused: z.literal(true).exactOptional(),
});
export type ElementBox = z.infer<typeof elementBox>;

export const preview = z.object({
  /** base64; null: this record cannot be printed, and the problems say why. */
  png: z.string().nullable(),
  /** The label, dots. */
  width: z.int(),
  height: z.int(),
  dpi: z.number(),
  problems: z.array(templateProblem),
  /** Empty for a raw ZPL template. */
  boxes: z.array(elementBox),
  /** The names of files that came as themselves, by JSON pointer: the next request may name them. */
  files: z.record(z.string(), fileName),
});
export type Preview = z.infer<typeof preview>;
