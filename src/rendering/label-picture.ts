/**
 * Draws a label as a PNG for a person: the printer's dots as pixels, or fewer pixels in greys. The preview of a template draws
 * what can be drawn. It also says where each element is, and what is wrong with it.
 */
import { setImmediate as breathe } from 'node:timers/promises';
import { nativeField } from '../../drivers/languages/zpl/designed.ts';
import { type JobFault, JobFaultError } from '../contract/fault.ts';
import type { ElementBox } from '../contract/label-picture.ts';
import { reasonIn } from '../contract/reason.ts';
import type { DesignedTemplate, Template } from '../contract/template.ts';
import type { TemplateProblem } from '../contract/template-problem.ts';
import { createAssets, type Keep, textAsBefore } from '../render/assets.ts';
import { type DisplayList, enclosing, type Item } from '../render/display-list.ts';
import { compileDocument } from '../render/document/document.ts';
import { DrawnElements } from '../render/drawn-elements.ts';
import { smallerPng } from '../render/image/grey-picture.ts';
import { itemBounds } from '../render/item-bounds.ts';
import { compileLabel, mediaGrid } from '../render/label-layout.ts';
import { labelPage } from '../render/output/page.ts';
import { inkRect, rasterBitmap, rasterizePage } from '../render/output/raster.ts';
import { compileRawPictures } from '../render/output/raw-picture.ts';
import { ElementFault } from '../render/place.ts';
import { templateProblems } from '../render/template-check.ts';
import { turnItem } from '../render/turn.ts';
import { numbered } from '../values/built-ins.ts';
import { FieldFault } from '../values/said-fault.ts';
import type { PictureCheck, PictureResult } from './check-protocol.ts';

/** A check says this if a field's sample is at fault. Here the value comes from the record, so these words are cut out. */
const OF_SAMPLES = 'with the samples of the fields: ';

/**
 * One label of a job.
 * @param keep the owner's files that are kept decoded, for previews
 * @throws JobFaultError the same as printing the label would throw
 */
export async function labelPicture(check: PictureCheck, keep: Keep): Promise<PictureResult> {
  const drawn = check.preview ? drawnElements(check, keep) : undefined;
  const list: Preview = check.preview
    ? await previewList(check, drawn, keep)
    : { ...(await listOf(check)), boxes: [] };
  const { width, height } = list;
  const problems = check.preview ? await problemsOf(check, drawn) : [];
  if (list.refused !== undefined && !problems.some(({ severity }) => severity === 'error'))
    problems.push(list.refused);
  const png = list.items === null ? null : await pngOf({ ...list, items: list.items }, check.width);
  return { png, width, height, problems, boxes: list.boxes };
}

/** The elements, drawn once for the picture and its problems; undefined: nothing can be drawn, and the check says why. */
function drawnElements(
  { template, dpi, job, record, index, copy }: PictureCheck,
  keep: Keep,
): DrawnElements | undefined {
  if (template.language !== 'platen') return undefined;
  try {
    const assets = createAssets(template, keep);
    return new DrawnElements(template, { dpi, job, record: numbered(record, index, copy, job), assets });
  } catch (error) {
    if (error instanceof JobFaultError) return undefined;
    throw error;
  }
}

async function pngOf(list: DisplayList, width: number | undefined): Promise<Uint8Array> {
  if (width === undefined || width >= list.width) return await rasterizePage(labelPage(list));
  return smallerPng(rasterBitmap(list), width);
}

async function listOf({
  template,
  dpi,
  media,
  orientation,
  job,
  record,
  index,
  copy,
}: PictureCheck): Promise<DisplayList> {
  if (template.language === 'zpl') {
    return await compileRawPictures(template, { dpi, ...media, job }).layout(record, index, copy);
  }
  if (template.language === 'document') {
    return await compileDocument(template, { dpi, orientation, media, job }).layout(record, index);
  }
  return (await compileLabel(template, { dpi, orientation, job })).layout(record, index, copy);
}

type Preview = Omit<DisplayList, 'items'> & {
  items: readonly Item[] | null;
  boxes: ElementBox[];
  /** Why nothing can be drawn of a raw template, which `problemsOf` may not know. */
  refused?: TemplateProblem;
};

async function previewList(
  check: PictureCheck,
  drawn: DrawnElements | undefined,
  keep: Keep,
): Promise<Preview> {
  const { template, dpi, media, orientation } = check;
  if (template.language === 'platen') return await designed(template, check, drawn, keep);
  const size = { width: template.width ?? media.width, height: template.height ?? media.height };
  try {
    return { ...(await listOf(check)), boxes: [] };
  } catch (error) {
    if (!(error instanceof JobFaultError)) throw error;
    const grid = mediaGrid(size, { dpi: (template.language === 'zpl' && template.dpi) || dpi, orientation });
    return { ...grid, items: null, boxes: [], refused: refusalOf(template, error.fault) };
  }
}

/** The elements that can be drawn, as `compileLabel` has them, and where each of them is. */
async function designed(
  template: DesignedTemplate,
  { dpi, orientation }: PictureCheck,
  drawn: DrawnElements | undefined,
  { texts }: Keep,
): Promise<Preview> {
  const media = mediaGrid(template, { dpi, orientation });
  if (drawn === undefined) return { ...media, items: null, boxes: [] };
  const whole = { x: 0, y: 0, width: media.width, height: media.height };
  const all: Item[] = [];
  const boxes: ElementBox[] = [];
  for (const at of template.elements.keys()) {
    const { items, refused } = await elementItems(() => drawn.items(at));
    const its = items.map((item) => textAsBefore(item, texts));
    const box = enclosing(its.map(itemBounds));
    const printer = refused ? undefined : byPrinter(its, media);
    const ink =
      its.some(({ kind }) => kind === 'text') && enclosing(its.flatMap((item) => inkRect(item) ?? []));
    if (box !== undefined)
      boxes.push({
        pointer: `/elements/${at}`,
        ...box,
        ...(ink && { ink }),
        ...(printer && { printer }),
        ...(refused && { refused }),
      });
    const turned = (item: Item) => textAsBefore(turnItem(item, 90, whole), texts);
    all.push(...(orientation === 'landscape' ? its.map(turned) : its));
    // Lets the drawing library free the memory of pictures. The memory of texts is freed at once.
    if (its.some(({ kind }) => kind === 'bitmap')) await breathe();
  }
  return { ...media, items: all, boxes };
}

/** What of the element a ZPL printer draws by itself. Only for text, in the printer's font, do its dots differ from ours. */
function byPrinter(items: readonly Item[], media: Parameters<typeof nativeField>[1]): ElementBox['printer'] {
  const own = items.filter((item) => nativeField(item, media) !== undefined);
  if (own.some(({ kind }) => kind === 'text')) return 'text';
  return own.some(({ kind }) => kind === 'bars') ? 'bars' : undefined;
}

function refusalOf({ language }: Template, { code, message, field, reason }: JobFault): TemplateProblem {
  // Only a warning: a ZPL printer may print the label all the same.
  if (language === 'zpl') {
    const problem = { severity: 'warning', code: 'template-invalid', pointer: '/source' } as const;
    return { ...problem, message, ...reasonIn(reason) };
  }
  const said = code === 'does-not-fit' ? code : 'value-invalid';
  const why = field === undefined || reason === undefined ? message : new FieldFault(reason, field).message;
  return { severity: 'error', code: said, pointer: '/fields/0', message: why, ...reasonIn(reason) };
}

type Made = { items: readonly Item[]; refused: boolean };

/** The element's items, even if they do not fit; none if the element cannot be made for this record. */
async function elementItems(make: () => Promise<readonly Item[]>): Promise<Made> {
  try {
    return { items: await make(), refused: false };
  } catch (error) {
    if (error instanceof ElementFault && error.unfit !== undefined) {
      const { unfit } = error;
      return { ...(await elementItems(async () => unfit())), refused: true };
    }
    if (error instanceof ElementFault || error instanceof JobFaultError) return { items: [], refused: true };
    throw error;
  }
}

/** Problems as the check of a template finds them, with this record in place of the fields' samples. */
async function problemsOf(
  { template, dpi, record, job }: PictureCheck,
  drawn: DrawnElements | undefined,
): Promise<TemplateProblem[]> {
  const problems = await templateProblems(withSamples(template, record), { dpi }, undefined, {
    drawn,
    ...(job.printerCommands && { printerCommands: job.printerCommands }),
  });
  return problems.map(({ sampled, ...problem }) =>
    sampled ? { ...problem, message: problem.message.replace(OF_SAMPLES, '') } : problem,
  );
}

function withSamples<T extends Template>(template: T, record: PictureCheck['record']): T {
  const fields = template.fields.map((field) => {
    const value = Object.hasOwn(record, field.name) ? record[field.name] : undefined;
    return value === undefined || value === null ? field : { ...field, sample: String(value) };
  });
  return { ...template, fields };
}
