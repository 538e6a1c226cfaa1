/**
 * Checks whether a raw ZPL template fits the printer: its fields lie on the media, its ^PW and ^LL are no larger than the
 * media, and its dots are those of the printer's resolution. Otherwise labels are cut off or too small, and no printer reports
 * that.
 *
 * The virtual printer's interpreter reads the template. Placeholders stand only in field data, and data moves no field. The
 * check ignores how long a text or a barcode becomes with its data.
 */

import { dots } from '../../contract/dots.ts';
import { because, becauseOf, type Reason } from '../../contract/reason.ts';
import type { RawZplTemplate } from '../../contract/template.ts';
import type { FieldMark } from '../interpreter/field-marks.ts';
import type { LabelPlan } from '../interpreter/label-plan.ts';
import { type PlannedLabel, plannedLabel } from '../interpreter/planned-label.ts';

export interface RawPlacementFault {
  readonly code: 'off-label' | 'size-mismatch';
  /** It begins with the line of the source that it is about. */
  readonly reason: Reason;
}

/** What a template is to be printed on. A member that is not known limits nothing. */
export interface RawMedia {
  readonly dpi?: number | undefined;
  /** mm */
  readonly width?: number | undefined;
  readonly height?: number | undefined;
}

/** ^PW, ^LL and ^FO take at most this many dots. */
const UNLIMITED = 32_000;
/** Resolutions that label printers have. */
const RESOLUTIONS = [203, 300, 600] as const;
/** How many dots over the edge are tolerated: 203 dpi is really 203.2, so a 4 × 6 in label has one dot more. */
const EDGE = 2;
const NEW_LINE = 0x0a;
/** ^PW and ^LL still match the media's size if they differ by this share, because of margins, and heads of 104 mm. */
const NEAR = 0.03;

export function rawPlacementFaults(template: RawZplTemplate, media: RawMedia): RawPlacementFault[] {
  const { dpi, width, height } = media;
  const limit = (mm: number | undefined) =>
    mm === undefined || dpi === undefined ? UNLIMITED : dots(mm, dpi);
  // The default resolution does no harm, because only ^MU in mm or inches depends on it.
  const sheet = { dpi: dpi ?? RESOLUTIONS[0], width: limit(width), height: limit(height) };
  const whole = plannedLabel(template.source, sheet);
  const read = whole.plan === undefined ? plannedLabel(withDot(template.source), sheet) : whole;
  const { plan } = read;
  if (plan === undefined) return [];
  const lineOf = lineFinder(Buffer.from(template.source, 'utf8'));
  return [
    ...sizeFaults(template, media, read, lineOf),
    ...plan.marks.flatMap((mark) => fieldFault(mark, plan, lineOf)),
  ];
}

/** Adds a dot to a label whose fields all wait for data. Otherwise it would print nothing, and have no plan to check. */
function withDot(source: string): string {
  const end = source.toUpperCase().lastIndexOf('^XZ');
  return `${source.slice(0, end)}^FS^FO0,0^GB1,1,1^FS${source.slice(end)}`;
}

/** Makes a function that finds the line, from 1, for a byte's position. */
function lineFinder(bytes: Buffer): (at: number) => number {
  const ends: number[] = [];
  for (let at = bytes.indexOf(NEW_LINE); at >= 0; at = bytes.indexOf(NEW_LINE, at + 1)) ends.push(at);
  return (at) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle] ?? 0) < at) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}

function sizeFaults(
  template: RawZplTemplate,
  { dpi, width, height }: RawMedia,
  { commands, settings }: PlannedLabel,
  lineOf: (at: number) => number,
): RawPlacementFault[] {
  if (dpi === undefined) return [];
  const asked = (name: 'PW' | 'LL') => {
    const command = commands.findLast((one) => one.name === name);
    const count = Number.parseInt(settings.get(name) ?? '', 10);
    return command === undefined || Number.isNaN(count) ? undefined : { count, line: lineOf(command.at) };
  };
  const [across, down] = [asked('PW'), asked('LL')];
  const near = (count: number, mm: number, at: number) => Math.abs(count / dots(mm, at) - 1) <= NEAR;

  if (template.dpi === undefined && width !== undefined && across !== undefined) {
    const isFor = (at: number) =>
      near(across.count, width, at) &&
      (down === undefined || height === undefined || near(down.count, height, at));
    const other = isFor(dpi) ? undefined : RESOLUTIONS.find((at) => at !== dpi && isFor(at));
    if (other !== undefined) {
      const why = because('zpl-other-dpi', { count: across.count, other, dpi });
      return [{ code: 'size-mismatch', reason: becauseOf('zpl-line', { line: across.line }, why) }];
    }
  }
  const larger = (what: string, mm: number | undefined, found: typeof across): RawPlacementFault[] => {
    if (mm === undefined || found === undefined || found.count <= dots(mm, dpi) * (1 + NEAR)) return [];
    const why = because('zpl-larger', { command: what, count: found.count, dots: dots(mm, dpi) });
    return [{ code: 'size-mismatch', reason: becauseOf('zpl-line', { line: found.line }, why) }];
  };
  return [...larger('PW', width, across), ...larger('LL', height, down)];
}

function fieldFault(
  { name, at, x, y, width, height }: FieldMark,
  plan: LabelPlan,
  lineOf: (at: number) => number,
): RawPlacementFault[] {
  const off = x >= plan.width || y >= plan.length || x + width < 0 || y + height < 0;
  const over = x < -EDGE || y < -EDGE || x + width > plan.width + EDGE || y + height > plan.length + EDGE;
  if (!off && !over) return [];
  const field = { x, y, command: name, width: plan.width, length: plan.length };
  const why = off
    ? because('zpl-off-label', field)
    : because('zpl-over-edge', { ...field, across: width, down: height });
  return [{ code: 'off-label', reason: becauseOf('zpl-line', { line: lineOf(at) }, why) }];
}
