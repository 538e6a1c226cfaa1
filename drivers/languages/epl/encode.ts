/**
 * EPL2, the language of Eltron's printers and of Zebra's that came after them (LP 2844 and its kind).
 *
 * A label is its own dots, as GWs of its inked parts ("Direct Graphic Write": a bit of 0 burns a dot), for the same
 * reasons as in TSPL. The printer takes the data by its length, so that it can hold any byte.
 *
 * Source: EPL Programming Guide 14245L, by the command named; Zebra's note that a comma or a line feed has to stand
 * before GW's data.
 */

import { dots } from '../../../src/contract/dots.ts';
import type { PrinterFormat } from '../../../src/contract/format.ts';
import type { QueuedJob } from '../../../src/contract/queued-job.ts';
import { encoderOfDots, labelLength } from '../label-dots.ts';
import { SPEED } from './device.ts';

/** Q wants to know how long a gap or mark is, which nobody has told us: the usual, mm. */
const BETWEEN_LABELS = 3;

export const openEpl = encoderOfDots({
  setUp,
  clear: 'N',
  draw: ({ x, y, stride, height }) => `GW${x},${y},${stride},${height},`,
  overhead: 20,
  print: (copies) => `P${copies}`,
});

/**
 * What is the same for every label of a job. The first line is empty: it ends what another sender may have left
 * unfinished. q ("Set Label Width") also places the label under the head, so it is the media's width, in whole bytes.
 */
function setUp(job: QueuedJob): string[] {
  const { format } = job;
  return ['', `q${Math.ceil(dots(format.width, format.dpi) / 8) * 8}`, ...settings(job), 'ZT'];
}

/** Nothing is sent that the format does not set. */
function settings(job: QueuedJob): string[] {
  const { speed, darkness } = job.format;
  return [
    ...formLength(job),
    ...(speed === undefined ? [] : [`S${Math.min(SPEED.to, speed)}`]),
    ...(darkness === undefined ? [] : [`D${Math.round(darkness)}`]),
    ...options(job.format),
  ];
}

/** Q ("Set Form Length"): the label, and what is between it and the next. */
function formLength(job: QueuedJob): string[] {
  const { mediaTracking, dpi } = job.format;
  if (mediaTracking === undefined) return [];
  const between = dots(BETWEEN_LABELS, dpi);
  const next = { continuous: '0', gap: `${between}`, mark: `B${between}` }[mediaTracking];
  return [`Q${dots(labelLength(job), dpi)},${next}`];
}

/** O ("Hardware Options") sets all of them at once: one that is not named is off. It knows no rewinder or applicator. */
function options({ printMode, thermalMode }: PrinterFormat): string[] {
  const known = printMode === 'tear-off' || printMode === 'peel-off' || printMode === 'cutter';
  if (!known && thermalMode === undefined) return [];
  const on = [
    ...(thermalMode === 'direct' ? ['D'] : []),
    ...(printMode === 'peel-off' ? ['P'] : []),
    // After every label.
    ...(printMode === 'cutter' ? ['C1'] : []),
  ];
  return [`O${on.join(',')}`];
}
