/**
 * Encodes labels in EPL2, the language of Eltron's printers and their successors by Zebra (LP 2844 and
 * others).
 *
 * A label is sent as dots, with one GW for each inked block ("Direct Graphic Write": a 0 bit prints a dot). The reasons are in
 * `../tspl/encode.ts`. The printer reads the data by its length, so the data can hold any byte.
 *
 * Source: EPL Programming Guide 14245L, the commands named; Zebra's note that a comma or a line feed has to stand before GW's
 * data.
 */

import { dots } from '../../../src/contract/dots.ts';
import type { PrinterFormat } from '../../../src/contract/format.ts';
import type { QueuedJob } from '../../../src/contract/queued-job.ts';
import { eplDeletion } from '../../../src/programs/epl.ts';
import { encoderOfDots, labelLength } from '../label-dots.ts';
import { SPEED } from './device.ts';

/** The usual length of a gap or mark, mm. Q needs it, and a format does not hold it. */
const BETWEEN_LABELS = 3;

export const openEpl = encoderOfDots({
  setUp,
  clear: 'N',
  draw: ({ x, y, stride, height }) => `GW${x},${y},${stride},${height},`,
  overhead: 20,
  print: (copies) => `P${copies}`,
  program: {
    // R moves what q has placed, so q comes last.
    start: ({ format }) => ['', 'R0,0', labelWidth(format), 'ZT'],
    // The guide's own character set ("I", "i").
    usual: { I: 'I8,0,001', i: 'i0' },
    deletion: eplDeletion,
  },
});

/**
 * The commands before a job's labels. The empty first line ends what another sender may have left unfinished.
 * q ("Set Label Width") also places the label under the head, so it is the media's width, in whole bytes.
 */
function setUp(job: QueuedJob): string[] {
  const { format } = job;
  return ['', labelWidth(format), ...settings(job), 'ZT'];
}

function labelWidth({ width, dpi }: PrinterFormat): string {
  return `q${Math.ceil(dots(width, dpi) / 8) * 8}`;
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

/** Q ("Set Form Length"): the length of the label, and of the gap or mark after it. */
function formLength(job: QueuedJob): string[] {
  const { mediaTracking, dpi } = job.format;
  if (mediaTracking === undefined) return [];
  const between = dots(BETWEEN_LABELS, dpi);
  const next = { continuous: '0', gap: `${between}`, mark: `B${between}` }[mediaTracking];
  return [`Q${dots(labelLength(job), dpi)},${next}`];
}

/**
 * O ("Hardware Options") sets all options at once, so options that it does not name are off. It has no rewinder or applicator.
 */
function options({ printMode, thermalMode }: PrinterFormat): string[] {
  const known = printMode === 'tear-off' || printMode === 'peel-off' || printMode === 'cutter';
  if (!known && thermalMode === undefined) return [];
  const on = [
    ...(thermalMode === 'direct' ? ['D'] : []),
    ...(printMode === 'peel-off' ? ['P'] : []),
    // Cut after every label.
    ...(printMode === 'cutter' ? ['C1'] : []),
  ];
  return [`O${on.join(',')}`];
}
