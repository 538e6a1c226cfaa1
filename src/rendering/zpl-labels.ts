/** Shows somebody without a printer what their ZPL would print: a PNG of a label, or a PDF or JSON of one or all. */

import type { PageRun } from '../../drivers/languages/pages.ts';
import { pdfDocument } from '../../drivers/languages/pdf/encode.ts';
import { dots } from '../contract/dots.ts';
import type { DisplayList, FillItem } from '../render/display-list.ts';
import { requireDots } from '../render/dot-limit.ts';
import { type Bitmap, turnBitmap } from '../render/image/bitmap.ts';
import { labelPage, type Page, sheetPage } from '../render/output/page.ts';
import { rasterizePage } from '../render/output/raster.ts';
import { drawnPlan, MOST_RAW_DOTS, undrawableZpl } from '../render/output/raw-picture.ts';
import { upright } from '../render/turn.ts';
import type { LabelPlan } from '../zpl/interpreter/label-plan.ts';
import { isSerial } from '../zpl/interpreter/label-zpl.ts';
import { plannedFormats } from '../zpl/interpreter/planned-label.ts';
import type { ZplCheck, ZplResult } from './check-protocol.ts';

/** mm of a border's line, and of its dashes and the gaps between them. */
const LINE = 0.25;
const DASH = 2;

/** A label, by the format that prints it. */
interface Label {
  readonly plan: LabelPlan;
  /** Its number in the whole program, from 0, and what `^SN` counts for it. */
  readonly index: number;
  readonly serial: number;
}

/** @throws JobFaultError `template-invalid`: a label has too many dots, or something that cannot be drawn */
export async function zplLabels(check: ZplCheck): Promise<ZplResult> {
  const { dpi, most, label } = check;
  const media = { width: dots(check.width, dpi), height: dots(check.height, dpi) };
  requireDots('label', media, dpi, MOST_RAW_DOTS);
  let labels = 0;
  // All labels are counted before one is drawn, because drawing takes a hundred times as long.
  for (const { index } of labelsIn(check, media)) {
    labels = index + 1;
    if (labels > most) break;
  }
  if (labels > most || labels <= (label ?? 0)) return { file: undefined, labels };
  if (check.as === 'json') return { file: saidBy(check, media), labels };
  const lists = drawnLabels(check, media);
  if (check.as === 'pdf') return { file: await pdfDocument(pagesOf(lists, check)), labels };
  for await (const list of lists) return { file: await rasterizePage(labelPage(list)), labels };
  return { file: undefined, labels };
}

type Media = Pick<Bitmap, 'width' | 'height'>;

/** @throws JobFaultError `template-invalid`: something of the program was not taken */
function* labelsIn({ zpl, dpi }: ZplCheck, media: Media): Generator<Label, void, void> {
  let index = 0;
  for (const planned of plannedFormats(zpl, { ...media, dpi })) {
    if (typeof planned === 'string') throw undrawableZpl(planned);
    const { plan } = planned;
    const counts = isSerial(plan);
    for (let at = 0; at < plan.quantity; at++, index++) {
      yield { plan, index, serial: counts ? Math.floor(at / plan.replicates) : 0 };
    }
  }
}

/** Where the fields of labels are, and what they say, as JSON in Labelary's form. */
function saidBy(check: ZplCheck, media: Media): Uint8Array {
  const labels: { fields: { x: number; y: number; data: string }[] }[] = [];
  for (const { plan, index, serial } of labelsIn(check, media)) {
    if (check.label !== undefined && index !== check.label) continue;
    labels.push({ fields: plan.said.map(({ x, y, data }) => ({ x, y, data: data(serial) })) });
  }
  return Buffer.from(JSON.stringify({ labels }));
}

/** The labels that are asked for, turned. Equal labels in a row are drawn once. @throws JobFaultError `template-invalid` */
async function* drawnLabels(check: ZplCheck, media: Media): AsyncGenerator<DisplayList, void, void> {
  const { dpi, turn, label } = check;
  const { width: widthMm, height: heightMm } = upright(check, turn);
  let last: (Label & { readonly list: DisplayList }) | undefined;
  for (const { plan, index, serial } of labelsIn(check, media)) {
    if (label !== undefined && index !== label) continue;
    if (last?.plan !== plan || last.serial !== serial) {
      const bitmap = turnBitmap(await drawnPlan(plan, serial, media, undrawableZpl), turn);
      const { width, height } = bitmap;
      const items = [{ kind: 'bitmap', x: 0, y: 0, bitmap, scale: 1 } as const];
      last = { plan, index, serial, list: { dpi, width, height, widthMm, heightMm, items } };
    }
    yield last.list;
    if (label !== undefined) return;
  }
}

/** @param check `page`: where labels lie on a page; undefined: each label is a page */
async function* pagesOf(
  lists: AsyncIterable<DisplayList>,
  { page: sheet, border, dpi }: ZplCheck,
): AsyncGenerator<PageRun, void, void> {
  if (sheet === undefined) {
    for await (const list of lists) yield { page: labelPage(list), copies: 1 };
    return;
  }
  let open: DisplayList[] = [];
  const sheetOf = (on: readonly DisplayList[]): Page => {
    const { widthMm: width = 0, heightMm: height = 0 } = on[0] ?? {};
    return sheetPage({ width, height }, sheet, { dpi, orientation: 'portrait' }, on);
  };
  for await (const list of lists) {
    open.push(border === 'none' ? list : { ...list, items: [...list.items, ...borderOf(list, border)] });
    if (open.length < sheet.columns * sheet.rows) continue;
    yield { page: sheetOf(open), copies: 1 };
    open = [];
  }
  if (open.length > 0) yield { page: sheetOf(open), copies: 1 };
}

/** Lines along the label's edges, within it. */
function borderOf({ width, height, dpi }: DisplayList, border: 'solid' | 'dashed'): FillItem[] {
  const line = Math.max(1, dots(LINE, dpi));
  const dash = border === 'solid' ? Math.max(width, height) : Math.max(1, dots(DASH, dpi));
  const fills: FillItem[] = [];
  const fill = (x: number, y: number, w: number, h: number) =>
    fills.push({ kind: 'fill', ink: 'black', x, y, width: w, height: h });
  for (let x = 0; x < width; x += 2 * dash) {
    for (const y of [0, height - line]) fill(x, y, Math.min(dash, width - x), line);
  }
  for (let y = 0; y < height; y += 2 * dash) {
    for (const x of [0, width - line]) fill(x, y, line, Math.min(dash, height - y));
  }
  return fills;
}
