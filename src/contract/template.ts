/**
 * A label template: what is on the label, in mm, with `{{field}}` placeholders for the data of a record.
 *
 * Three kinds. A *designed* template lists elements and prints on every printer. A *raw ZPL* template is a
 * printer program with placeholders, and prints on ZPL printers as it stands. A *document* template prints what others
 * have made: each record brings a file.
 *
 * Geometry: origin top left, x to the right, y down. An element's box (x, y, width, height) is the place on
 * the label that it occupies *after* its rotation; rotation turns what is inside the box, clockwise.
 */
import { z } from 'zod';
import { nearest } from '../words/nearest.ts';
import { documentTemplate } from './document-template.ts';
import { LIMITS } from './limits.ts';
import type { LabelRecord } from './print-request.ts';
import { reasonText, saying } from './reason.ts';
import { labelSheet, sheetFaults } from './sheet.ts';
import { templateFonts } from './template-font.ts';
import { dpi, length, rotation, templateField } from './template-members.ts';
import { templateName } from './template-name.ts';

const mm = z.number().min(-LIMITS.labelSide).max(LIMITS.labelSide);

const place = {
  x: mm,
  y: mm,
  /** Draws the element only if this text, filled in, is neither empty nor `0` nor `false`. */
  when: z.string().max(LIMITS.valueLength).optional(),
  /** Elements with the same group are one thing in the designer. Printing ignores groups. */
  group: z.string().min(1).max(100).optional(),
};

/** The element is drawn in black over what is under it, or in white. */
const colour = z.enum(['black', 'white']).default('black');

export const textElement = z.strictObject({
  type: z.literal('text'),
  ...place,
  /**
   * The box that the text is laid out in. Without a width, x is where the text starts, has its middle or ends, by
   * `align`; without a height, the box is as high as its lines.
   */
  width: length.optional(),
  height: length.optional(),
  text: z.string().max(LIMITS.valueLength),
  /** Character height (the em), mm. */
  size: length,
  /**
   * `condensed` is the face that label printers have themselves (Zebra's font 0); it has one weight, bold. `sans` has
   * any script. Or the name of one of the template's `fonts`.
   */
  font: z.string().min(1).max(100).default('condensed'),
  /** Only with `sans`, or a font that has a bold face. */
  bold: z.boolean().default(false),
  /** Only with `sans` in Latin, Greek and Cyrillic (others stay upright), or a font with an italic face. */
  italic: z.boolean().default(false),
  /** Added between characters, in multiples of the size. Scripts whose letters join take none. */
  letterSpacing: z.number().min(-0.2).max(2).default(0),
  align: z.enum(['left', 'center', 'right']).default('left'),
  valign: z.enum(['top', 'middle', 'bottom']).default('top'),
  /**
   * What happens to text that does not fit its box. `shrink`: smaller characters. `wrap`: more lines, then smaller
   * characters. `clip`: characters and lines outside are left out. Text that does not fit at 1 mm, or that would
   * run over the label's edge, is an error; only `clip` leaves anything out.
   */
  overflow: z.enum(['shrink', 'wrap', 'clip']).default('shrink'),
  /** Baseline to baseline, in multiples of the size. */
  lineSpacing: z.number().min(0.5).max(5).default(1.2),
  maxLines: z.int().min(1).max(1000).optional(),
  rotation,
  /** White on black: the box is filled. */
  reverse: z.boolean().default(false),
  /** `native`: the printer's own font, always. `graphic`: always as a picture. `auto`: native where it is safe. */
  render: z.enum(['auto', 'native', 'graphic']).default('auto'),
});

export const SYMBOLOGIES = [
  'code128',
  'gs1-128',
  'code39',
  'code93',
  'codabar',
  'itf',
  'itf14',
  'msi',
  'ean13',
  'ean8',
  'upca',
  'upce',
  'databar',
  'databar-truncated',
  'databar-stacked',
  'databar-stacked-omni',
  'databar-limited',
  'databar-expanded',
  'databar-expanded-stacked',
  'qr',
  'micro-qr',
  'gs1-qr',
  'datamatrix',
  'gs1-datamatrix',
  'pdf417',
  'micropdf417',
  'aztec',
  'maxicode',
  'royal-mail',
  'kix',
  'usps-imb',
  'postnet',
  'planet',
  'japan-post',
  'australia-post',
  'leitcode',
  'identcode',
  'code11',
  'telepen',
  'pharmacode',
  'pzn',
  'code32',
  'hibc-code128',
  'hibc-code39',
  'hibc-datamatrix',
  'hibc-qr',
  'hibc-aztec',
  'rmqr',
  'ean13-composite',
  'ean8-composite',
  'upca-composite',
  'upce-composite',
  'gs1-128-composite',
  'databar-composite',
  'databar-stacked-composite',
  'databar-stacked-omni-composite',
  'databar-limited-composite',
  'databar-expanded-composite',
] as const;
const NONE_NEAR = saying('symbology-none', { choices: SYMBOLOGIES.join(', ') });
const MEANT = new Map(
  SYMBOLOGIES.map((name) => [name, saying('symbology-near', { meant: JSON.stringify(name) })]),
);
const symbology = z.enum(SYMBOLOGIES, {
  error: ({ input }) => {
    const meant = typeof input === 'string' ? nearest(input, SYMBOLOGIES) : undefined;
    return (meant === undefined ? undefined : MEANT.get(meant)) ?? NONE_NEAR;
  },
});

export const barcodeElement = z.strictObject({
  type: z.literal('barcode'),
  ...place,
  symbology,
  value: z.string().max(LIMITS.valueLength),
  /**
   * Bar height of a linear symbol, mm, without its human-readable line. The GS1 DataBar family has a least
   * height, and takes that if none is given; symbols that are not linear take none.
   */
  height: length.optional(),
  /** Module width, mm; rounded to whole printer dots, never below one. Postal codes and MaxiCode have their own. */
  module: length.default(0.33),
  /** Module width in dots, whatever the printer's resolution; in place of `module`. */
  moduleDots: z.int().min(1).max(100).optional(),
  /**
   * The space that the symbol with its quiet zones has in its reading direction, mm. A symbol that does not fit
   * is an error. (x, y) is the corner of that space after rotation, quiet zones included.
   */
  width: length.optional(),
  /** Where a symbol that is smaller than its space stands in it. */
  align: z.enum(['left', 'center', 'right']).default('left'),
  /** The human-readable interpretation under or over a linear symbol. */
  hri: z.enum(['none', 'below', 'above']).default('none'),
  /** Error correction: a letter for QR codes and rMQR, 0 to 8 for PDF417, percent for Aztec. */
  ecLevel: z.union([z.enum(['L', 'M', 'Q', 'H']), z.int().min(0).max(95)]).optional(),
  /** Code 128: the shortest mix of code sets, or one set for the whole value. */
  codeSet: z.enum(['auto', 'A', 'B', 'C']).optional(),
  /** Code 39: lower case and all else of ASCII as pairs of characters; the reader must be set to it. */
  fullAscii: z.boolean().optional(),
  /** A check digit to add: Code 39 `mod43`, Codabar `mod16`, ITF `mod10`, Code 11 `mod11`, MSI the others. */
  checkDigit: z.enum(['none', 'mod10', 'mod11', 'mod1010', 'mod1110', 'mod16', 'mod43']).optional(),
  /** Wide to narrow bars of Code 39, Codabar, ITF, MSI, Code 11 and codes made of them; in whole dots. */
  ratio: z.number().min(2).max(3).optional(),
  /** Bearer bars of ITF and ITF-14: above and below, or all around. ITF-14 has bars unless told otherwise. */
  bearer: z.enum(['none', 'bars', 'box']).optional(),
  /** Data Matrix. */
  shape: z.enum(['square', 'rectangle']).optional(),
  /** Data columns of PDF417 and MicroPDF417; segments in a row of GS1 DataBar Expanded Stacked. */
  columns: z.int().min(1).max(30).optional(),
  /** Row height of PDF417 and MicroPDF417, modules. */
  rowHeight: z.int().min(2).max(20).optional(),
  /** rMQR: rows and columns, `R11x43`; without one, that of the least area. */
  version: z
    .string()
    .regex(/^R\d{1,2}x\d{2,3}$/, { error: saying('rmqr-version', {}) })
    .optional(),
  /** MaxiCode: default 4; 2 and 3 carry a postal code, a country and a class of service, separated by GS. */
  mode: z.int().min(2).max(6).optional(),
  rotation,
  /**
   * On ZPL printers. `auto`: the printer's own barcode command where it is sure to make the same symbol, else a
   * graphic. `native`: the command; a symbol that would be drawn is an error. `graphic`: always drawn.
   */
  render: z.enum(['auto', 'native', 'graphic']).default('auto'),
});

export const boxElement = z.strictObject({
  type: z.literal('box'),
  ...place,
  width: length,
  height: length,
  /** Line thickness, mm, drawn inwards. */
  thickness: length.default(0.25),
  filled: z.boolean().default(false),
  /** Corner radius, mm. */
  radius: z.number().min(0).max(LIMITS.labelSide).default(0),
  color: colour,
});

export const ellipseElement = z.strictObject({
  type: z.literal('ellipse'),
  ...place,
  /** The box that it fills; a circle where both are equal. */
  width: length,
  height: length,
  /** Line thickness, mm, drawn inwards. */
  thickness: length.default(0.25),
  filled: z.boolean().default(false),
  color: colour,
});

export const lineElement = z.strictObject({
  type: z.literal('line'),
  ...place,
  /** The other end, mm. */
  x2: mm,
  y2: mm,
  thickness: length.default(0.25),
  color: colour,
});

/**
 * A PNG, JPEG or SVG picture, base64 without a `data:` prefix. An SVG refers to nothing outside of itself, and has
 * outlines instead of text.
 */
const picture = z.base64().max(LIMITS.templateSource);

const namedImage = z.strictObject({ name: z.string().min(1).max(200), data: picture });

export const imageElement = z.strictObject({
  type: z.literal('image'),
  ...place,
  width: length,
  height: length,
  /** The picture itself; either this or `image`. */
  data: picture.optional(),
  /** The name of one of the template's `images`, with placeholders. An empty name draws nothing. */
  image: z.string().max(LIMITS.valueLength).optional(),
  /** How the picture fills its box; it is never distorted. */
  fit: z.enum(['contain', 'cover']).default('contain'),
  /** How grey becomes black or white. */
  halftone: z.enum(['threshold', 'dither']).default('threshold'),
  rotation,
});

export const templateElement = z.discriminatedUnion('type', [
  textElement,
  barcodeElement,
  boxElement,
  ellipseElement,
  lineElement,
  imageElement,
]);
export type TemplateElement = z.infer<typeof templateElement>;
export type TextElement = z.infer<typeof textElement>;
export type BarcodeElement = z.infer<typeof barcodeElement>;
/** The options of a barcode that only some symbologies have. */
export const SYMBOLOGY_OPTIONS = [
  'codeSet',
  'fullAscii',
  'checkDigit',
  'ratio',
  'bearer',
  'ecLevel',
  'shape',
  'columns',
  'rowHeight',
  'version',
  'mode',
] as const satisfies readonly (keyof BarcodeElement)[];
export type SymbologyOption = (typeof SYMBOLOGY_OPTIONS)[number];
export type BoxElement = z.infer<typeof boxElement>;
export type EllipseElement = z.infer<typeof ellipseElement>;
export type LineElement = z.infer<typeof lineElement>;
export type ImageElement = z.infer<typeof imageElement>;
export type NamedImage = z.infer<typeof namedImage>;
export type Symbology = z.infer<typeof symbology>;

const uniqueFields = z
  .array(templateField)
  .max(LIMITS.fieldsPerRecord)
  .default([])
  .refine((fields) => new Set(fields.map((field) => field.name)).size === fields.length, {
    error: saying('fields-same-name', {}),
  });

/** IANA name of the zone that instants are shown in; UTC when left out. */
const timeZone = z.string().min(1).max(100).optional();
const designedMembers = z.strictObject({
  name: templateName,
  language: z.literal('platen').default('platen'),
  /** The label, mm. */
  width: length,
  height: length,
  /** The page that several such labels lie on, on printers that print pages. */
  sheet: labelSheet.optional(),
  /** The resolution that it was designed for; printing at another gives a warning. */
  dpi,
  timeZone,
  fields: uniqueFields,
  /** Pictures that image elements choose from by name. */
  images: z
    .array(namedImage)
    .max(LIMITS.images)
    .default([])
    .refine((images) => new Set(images.map((image) => image.name)).size === images.length, {
      error: saying('images-same-name', {}),
    }),
  /** Fonts of the tenant's own that text elements name. */
  fonts: templateFonts,
  elements: z.array(templateElement).max(LIMITS.elements),
});
export const designedTemplate = designedMembers.superRefine((label, context) => {
  if (label.sheet === undefined) return;
  for (const { path, reason } of sheetFaults(label, label.sheet)) {
    context.addIssue({ code: 'custom', path, message: reasonText(reason), params: { reason } });
  }
});
export type DesignedTemplate = z.infer<typeof designedTemplate>;

export const rawZplTemplate = z.strictObject({
  name: templateName,
  language: z.literal('zpl'),
  /** Exactly one label format: `^XA … ^XZ`, with `{{name}}` placeholders inside field data. */
  source: z.string().min(1).max(LIMITS.templateSource),
  /** The label, mm, and the printer it was written for; for previews and for warnings. */
  width: length.optional(),
  height: length.optional(),
  dpi,
  timeZone,
  fields: uniqueFields,
});
export type RawZplTemplate = z.infer<typeof rawZplTemplate>;

export const templateLanguage = z.enum(['platen', 'zpl', 'document']);

/** Told apart by `language`; a template without one is a designed template. */
export const template = z.union([rawZplTemplate, documentTemplate, designedTemplate]);
export type Template = z.infer<typeof template>;

/** The schema of the kind of template that is meant, so that faults are those of that kind. */
export function templateSchemaFor(body: unknown): z.ZodType<Template> {
  const language = typeof body === 'object' && body !== null ? Reflect.get(body, 'language') : undefined;
  if (language === 'zpl') return rawZplTemplate;
  return language === 'document' ? documentTemplate : designedTemplate;
}

/** The name of the field that holds a document; undefined: the template prints none. */
export function documentField({ language, fields }: Template): string | undefined {
  return language === 'document' ? fields[0]?.name : undefined;
}

/** The record's fields whose values are too long; a document may be as long as its request. */
export function longFields(record: LabelRecord, body: Template): string[] {
  const document = documentField(body);
  return Object.entries(record).flatMap(([name, value]) =>
    typeof value === 'string' && value.length > LIMITS.valueLength && name !== document ? [name] : [],
  );
}
