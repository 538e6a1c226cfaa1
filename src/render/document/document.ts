/**
 * Lays out document templates: a page that others have made becomes the black dots of a label.
 *
 * A page keeps its own size unless the template says otherwise, and no black is cut off in silence. If a picture has the
 * printer's resolution, each of its pixels becomes a dot. If the printer takes vectors, a page of a PDF is also sent as
 * vectors, beside its dots (`checked-form.ts`).
 */
import { setImmediate as breathe } from 'node:timers/promises';
import { documentIn, documentPart, documentSaid } from '../../contract/document-pages.ts';
import type { DocumentTemplate } from '../../contract/document-template.ts';
import { dots, millimetres, mostData } from '../../contract/dots.ts';
import { JobFaultError } from '../../contract/fault.ts';
import type { LanguageId } from '../../contract/format.ts';
import type { LabelRecord, Orientation } from '../../contract/print-request.ts';
import { because, type Reason } from '../../contract/reason.ts';
import { documentField } from '../../contract/template.ts';
import type { LabelProgram, ProgramRules } from '../../programs/program.ts';
import { FieldFault } from '../../values/said-fault.ts';
import type { DisplayList, Rect } from '../display-list.ts';
import { MOST_ELEMENT_DOTS, requireDots } from '../dot-limit.ts';
import { cropBitmap, type Rotation, turnBitmap } from '../image/bitmap.ts';
import { inBands, rowsAtOnce } from '../image/in-bands.ts';
import { PictureFault } from '../image/picture-fault.ts';
import { isSameResolution } from '../image/picture-file.ts';
import { blackRect } from '../ink.ts';
import { type MediaGrid, mediaGrid } from '../label-layout.ts';
import { afterwards, type Matrix, type PageForm } from '../page-form.ts';
import { turnItem, turnPoint, upright } from '../turn.ts';
import {
  DOCUMENT_NAMES,
  documentsFor,
  type FileKind,
  fileKind,
  isProgram,
  requireBase64,
} from './document-file.ts';
import { type DocumentPicture, documentPicture } from './document-picture.ts';
import { askPdf, drawnPdf, pdfFile, pdfPages } from './pdf-pages.ts';
import type { DrawnPart, PdfFile } from './pdf-protocol.ts';
import { type ProgramPart, programOf, programPart } from './programs.ts';
import { rasterDocument, rasterPicture } from './raster-pages.ts';
import { zplPicture } from './zpl-pages.ts';

export interface DocumentTarget {
  readonly dpi: number;
  readonly orientation: Orientation;
  /** The size of the label, mm, if the template does not say it. */
  readonly media: Size;
  /** The job's records, because a record may name another one that holds its file. */
  readonly records?: readonly LabelRecord[];
  readonly job?: Rules;
  /** What the printer gets; a PDF has vectors where that is possible. Undefined: a picture for people. */
  readonly language?: LanguageId;
}

/** The rules by which a program is read. */
type Rules = Partial<ProgramRules>;

interface CompiledDocument {
  /** The label as it lies on the media. */
  readonly media: MediaGrid;
  /**
   * The label of one record.
   * @param index the record's number in its job, from 0
   * @throws JobFaultError `value-invalid`, `does-not-fit`
   */
  layout(record: LabelRecord, index?: number): Promise<DisplayList>;
  /** Throws what `layout` throws. It is faster, because the label's vectors are not made. */
  check(record: LabelRecord, index?: number): Promise<void>;
  /**
   * The label in the printer's own language, as the document has it. Undefined: the document is not in that language, and is
   * drawn.
   * @param sent the index of the record whose document was sent last
   * @throws JobFaultError `value-invalid`
   */
  program(
    record: LabelRecord,
    index: number,
    how: { copies: number; sent?: number | undefined },
  ): OwnProgram | undefined;
}

interface OwnProgram extends ProgramPart {
  /** The index of the record that holds the document. */
  readonly holder: number;
}

type Size = { readonly width: number; readonly height: number };

/** A page, and how it is drawn. */
interface DocumentPage extends Size {
  /** Draws a part of the page `zoom` times as large; with `form`, as vectors too. @throws PictureFault */
  draw(part: Rect, zoom: number, form: boolean): Promise<DrawnPart>;
}

/** Thrown for black dots that the label has no room for. */
class PageUnfit extends PictureFault {}

/** @throws JobFaultError `template-invalid`: the label has too many dots */
export function compileDocument(template: DocumentTemplate, target: DocumentTarget): CompiledDocument {
  const { dpi, orientation, records = [], job = {}, language } = target;
  const lies = orientation === 'landscape' ? 90 : 0;
  const { width: across, height: along } = upright(target.media, lies);
  const { width = across, height = along } = template;
  const media = mediaGrid({ width, height }, target);
  requireDots('label', media, dpi, MOST_ELEMENT_DOTS);
  const label = upright(media, lies);
  const partOf = (record: LabelRecord, index: number) => {
    const { page, record: other, base64: own } = documentPart(documentIn(record, template));
    if (other === undefined)
      return { page, holder: index, base64: own, said: documentSaid(record, template) };
    const held = records[other] ?? {};
    const { base64 } = documentPart(documentIn(held, template));
    return { page, holder: other, base64, said: documentSaid(held, template) };
  };
  const refusalOf = (error: unknown, index: number, page: number | undefined): unknown => {
    if (!(error instanceof PictureFault)) return error;
    const code = error instanceof PageUnfit ? 'does-not-fit' : 'value-invalid';
    const field = documentField(template) ?? '';
    return refused(code, error.said, { template: template.name, record: index, page, field });
  };
  const laidOut = async (record: LabelRecord, index: number, withForm: boolean): Promise<DisplayList> => {
    const { page, base64, said } = partOf(record, index);
    try {
      requireBase64(base64);
      const file = { base64, kind: fileKind(base64, said), number: page ?? 1 };
      const opened = await openPage(file, template, { dpi, width, height, job, language });
      const { bitmap, form } = await onLabel(opened, template, label, { dpi, vectors: withForm });
      // The drawing library frees its memory when the event loop turns.
      await breathe();
      const ink = blackRect(bitmap);
      if (ink === undefined) return { ...media, items: [] };
      requireRoom(ink, label, dpi);
      const inked = cropBitmap(bitmap, ink.x, ink.y, ink.width, ink.height);
      const item = { kind: 'bitmap', x: ink.x, y: ink.y, bitmap: inked, scale: 1 } as const;
      const whole = { x: 0, y: 0, width: media.width, height: media.height };
      return {
        ...media,
        items: [turnItem(item, lies, whole)],
        ...(form && { form: onPage(form, lies, media) }),
      };
    } catch (error) {
      throw refusalOf(error, index, page);
    }
  };
  return {
    media,
    layout: async (record, index = 0) => await laidOut(record, index, language === 'pdf'),
    check: async (record, index = 0) => {
      await laidOut(record, index, false);
    },
    program: (record, index, { copies, sent }) => {
      const { page, holder, base64, said } = partOf(record, index);
      try {
        const kind = fileKind(base64, said);
        if (kind !== language || !isProgram(kind)) return undefined;
        requireBase64(base64);
        requireOwnPage(template, { dpi, orientation, language: DOCUMENT_NAMES[kind] });
        const program = programOf(base64, kind, job);
        requireEnding(program, target);
        const part = { page: page ?? 1, copies, first: sent !== holder };
        return { ...programPart(program, part), holder };
      } catch (error) {
        throw refusalOf(error, index, page);
      }
    },
  };
}

/**
 * If a command's data is cut off on its way, the agent fills it up. So a command may have no more data than that.
 * @throws PictureFault
 */
function requireEnding({ largest }: LabelProgram, { media, dpi }: DocumentTarget): void {
  const most = mostData(media, dpi);
  if (largest > most) throw new PictureFault(because('program-data-large', { bytes: largest, most }));
}

/** A printer draws a label of its own language itself, so the template must not change the page. @throws PictureFault */
function requireOwnPage(
  { dpi: said, page }: DocumentTemplate,
  { dpi, orientation, language }: { dpi: number; orientation: Orientation; language: string },
): void {
  const changed = {
    'page.region': page.region !== undefined,
    'page.turn': page.turn !== 0,
    'page.fit': page.fit !== 'none',
    orientation: orientation === 'landscape',
  };
  const [member] = Object.entries(changed).find(([, is]) => is) ?? [];
  if (member !== undefined) throw new PictureFault(because('document-own', { member, language }));
  if (said !== undefined && !isSameResolution(said / dpi))
    throw new PictureFault(because('drawn-for-dpi', { designed: said, wanted: dpi }));
}

/**
 * How often each page of a document is printed, or each label of a program.
 * @throws PictureFault
 */
export async function documentPages(
  base64: string,
  { said, ...rules }: Rules & { said?: string | undefined },
): Promise<readonly number[]> {
  requireBase64(base64);
  const kind = fileKind(base64, said);
  if (isProgram(kind)) return programOf(base64, kind, rules).labels.map(({ quantity }) => quantity);
  const pages =
    kind === 'pdf' ? await pdfPages(base64) : kind === 'raster' ? rasterDocument(base64).pages.length : 1;
  return new Array<number>(pages).fill(1);
}

function refused(
  code: 'value-invalid' | 'does-not-fit',
  reason: Reason,
  {
    template,
    record,
    page,
    field,
  }: { template: string; record: number; page: number | undefined; field: string },
): JobFaultError {
  const of = page === undefined ? '' : ` (page ${page})`;
  const where = `Template ${JSON.stringify(template)}, record ${record + 1}${of}`;
  return new JobFaultError(code, `${where}: ${new FieldFault(reason, field).message}`, {
    record,
    field,
    reason,
  });
}

/** What a page is printed on: the label's size in mm, the rules by which a program is read, and what the printer gets. */
type Place = Size & { readonly dpi: number; readonly job: Rules; readonly language: LanguageId | undefined };

/** @throws PictureFault */
async function openPage(
  { base64, kind, number }: { base64: string; kind: FileKind; number: number },
  template: DocumentTemplate,
  place: Place,
): Promise<DocumentPage> {
  if (kind === 'pdf') return await openPdfPage(pdfFile(base64), number, template, place.dpi);
  if (kind === 'epl' || kind === 'tspl')
    throw new PictureFault(undrawn(DOCUMENT_NAMES[kind], place.language));
  return openPicture(
    kind === 'zpl'
      ? await zplPicturePage(base64, number, template, place)
      : await pictureIn(base64, kind, number),
    template,
    place.dpi,
  );
}

async function pictureIn(base64: string, kind: FileKind, number: number): Promise<DocumentPicture> {
  return await documentPicture(
    kind === 'raster' ? Buffer.from(rasterPicture(base64, number)) : Buffer.from(base64, 'base64'),
  );
}

/** Why a program is not drawn: only a printer of its language can. @param printer the language of the printer that it is for */
function undrawn(language: string, printer: LanguageId | undefined): Reason {
  if (printer === undefined) return because('document-undrawn', { language });
  return because('document-language', { language, taken: documentsFor(printer) });
}

/** @throws PictureFault */
async function zplPicturePage(
  base64: string,
  page: number,
  { dpi: said }: DocumentTemplate,
  { dpi: target, width, height, job }: Place,
): Promise<DocumentPicture> {
  const dpi = said ?? target;
  const media = { dpi, width: dots(width, dpi), height: dots(height, dpi) };
  const png = await zplPicture(programOf(base64, 'zpl', job), page, media);
  return await documentPicture(Buffer.from(png));
}

/** @throws PictureFault */
async function openPdfPage(
  file: PdfFile,
  page: number,
  { page: { halftone } }: DocumentTemplate,
  dpi: number,
): Promise<DocumentPage> {
  const size = await askPdf({ kind: 'size', file, page, dpi });
  if (!('width' in size)) throw new TypeError('a page without a size');
  return {
    width: size.width,
    height: size.height,
    draw: (part, zoom, form) => drawnPdf({ kind: 'draw', file, page, dpi, part, zoom, halftone, form }),
  };
}

function openPicture(
  { image, resolution }: DocumentPicture,
  { dpi: said, page: { halftone } }: DocumentTemplate,
  dpi: number,
): DocumentPage {
  const scale = (own: number | undefined) => {
    const ratio = dpi / (said ?? own ?? dpi);
    return isSameResolution(ratio) ? 1 : ratio;
  };
  const width = Math.max(1, Math.round(image.width * scale(resolution?.x)));
  const height = Math.max(1, Math.round(image.height * scale(resolution?.y)));
  return {
    width,
    height,
    draw: async (part, zoom) => ({
      bitmap: inBands(part, rowsAtOnce(part.width), halftone, (context, top) => {
        context.imageSmoothingQuality = 'high';
        context.drawImage(image, -part.x, -part.y - top, width * zoom, height * zoom);
      }),
    }),
  };
}

/** Draws the template's region of the page as it lies on the upright label. @throws PictureFault */
async function onLabel(
  page: DocumentPage,
  { page: { region, turn, fit } }: DocumentTemplate,
  label: Size,
  { dpi, vectors }: { dpi: number; vectors: boolean },
): Promise<DrawnPart> {
  const draw = async (part: Rect, zoom: number, form = false) => {
    requireDrawable(part);
    return await page.draw(part, zoom, form);
  };
  const whole = { x: 0, y: 0, width: page.width, height: page.height };
  const part = async (): Promise<Rect> => {
    if (region === undefined) return whole;
    if (region === 'ink') return blackRect((await draw(whole, 1)).bitmap) ?? whole;
    const [x, y] = [dots(region.x, dpi), dots(region.y, dpi)];
    return { x, y, width: dots(region.width, dpi), height: dots(region.height, dpi) };
  };
  const chosen = await part();
  const turned = upright(chosen, turn);
  const full = Math.min(label.width / turned.width, label.height / turned.height);
  const zoom = fit === 'none' ? 1 : fit === 'shrink' ? Math.min(1, full) : full;
  const where = zoomed(chosen, zoom);
  const { bitmap, form } = await draw(where, zoom, vectors);
  const box = { x: 0, y: 0, ...upright(where, turn) };
  return {
    bitmap: turnBitmap(bitmap, turn),
    form: form && { ...form, matrix: afterwards(form.matrix, turning(box, turn)) },
  };
}

/** The matrix that maps dots as `turnPoint` does. */
function turning(box: Rect, turn: Rotation): Matrix {
  const [from, right, down] = [
    turnPoint(box, turn, 0, 0),
    turnPoint(box, turn, 1, 0),
    turnPoint(box, turn, 0, 1),
  ];
  return [right.x - from.x, right.y - from.y, down.x - from.x, down.y - from.y, from.x, from.y];
}

/** Moves a form from a label's upright dots to its page as it lies on the media, points from the bottom left, as in PDF. */
function onPage(form: PageForm, lies: Rotation, media: MediaGrid): PageForm {
  const onMedia = turning({ x: 0, y: 0, width: media.width, height: media.height }, lies);
  const scale = 72 / media.dpi;
  const onPaper: Matrix = [scale, 0, 0, -scale, 0, (media.heightMm * 72) / 25.4];
  return { ...form, matrix: afterwards(afterwards(form.matrix, onMedia), onPaper) };
}

function zoomed({ x, y, width, height }: Rect, zoom: number): Rect {
  const size = (length: number) => Math.max(1, Math.round(length * zoom));
  return { x: Math.round(x * zoom), y: Math.round(y * zoom), width: size(width), height: size(height) };
}

/** @throws PictureFault */
function requireDrawable({ width, height }: Size): void {
  if (width * height <= MOST_ELEMENT_DOTS) return;
  const [count, most] = [width * height, MOST_ELEMENT_DOTS].map((some) => Math.ceil(some / 1e6));
  throw new PictureFault(because('dots-many', { count: count ?? 0, most: most ?? 0 }));
}

/** @throws PageUnfit */
function requireRoom(ink: Rect, label: Size, dpi: number): void {
  const [right, bottom] = [ink.x + ink.width, ink.y + ink.height];
  if (right <= label.width && bottom <= label.height) return;
  const mm = (count: number) => Math.round(millimetres(count, dpi) * 10) / 10;
  const sizes = { labelWidth: mm(label.width), labelHeight: mm(label.height) };
  throw new PageUnfit(because('document-unfit', { width: mm(right), height: mm(bottom), ...sizes }));
}
