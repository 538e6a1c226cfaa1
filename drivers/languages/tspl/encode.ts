/**
 * TSPL and TSPL2, the language of TSC's printers and of many that are built alike.
 *
 * A label is its own dots, as BITMAPs of its inked parts: every printer of the family draws those alike, which cannot
 * be said of their fonts and barcodes, and nothing that a record holds can become a command.
 *
 * Two things of the TSPL/TSPL2 Programming Language manual matter here. "BITMAP": a bit of 0 burns a dot; mode 0
 * (OVERWRITE) takes the data as it is. And `<ESC>!` starts a command that is carried out wherever it arrives, also in
 * the data of a BITMAP ("<ESC>!R" restarts the printer): so the data never has these two bytes one after the other.
 */
import type { PrinterFormat } from '../../../src/contract/format.ts';
import type { QueuedJob } from '../../../src/contract/queued-job.ts';
import { encoderOfDots, labelLength } from '../label-dots.ts';

const IMMEDIATE = [0x1b, 0x21] as const;
/** GAP and BLINE want to know how long a gap or mark is, which nobody has told us: the usual 3 mm, as LPrint has it. */
const BETWEEN_LABELS = '3 mm,0 mm';

const TRACKING = {
  continuous: 'GAP 0 mm,0 mm',
  gap: `GAP ${BETWEEN_LABELS}`,
  mark: `BLINE ${BETWEEN_LABELS}`,
} as const;

/** Each says what the others would leave on. An applicator is a matter of the printer's own settings. */
const PRINT_MODE = {
  'tear-off': ['SET PEEL OFF', 'SET CUTTER OFF', 'SET TEAR ON'],
  'peel-off': ['SET CUTTER OFF', 'SET PEEL ON'],
  rewind: ['SET PEEL OFF', 'SET CUTTER OFF', 'SET TEAR OFF'],
  applicator: [],
  // After every label.
  cutter: ['SET PEEL OFF', 'SET CUTTER 1'],
} as const;

export const openTspl = encoderOfDots({
  setUp,
  clear: 'CLS',
  draw: ({ x, y, stride, height }) => `BITMAP ${x},${y},${stride},${height},0,`,
  overhead: 30,
  apart: IMMEDIATE,
  print: (copies) => `PRINT 1,${copies}`,
});

/**
 * What is the same for every label of a job. The first line is empty: it ends what another sender may have left
 * unfinished. DIRECTION and REFERENCE keep what an earlier job set, so both are put back to what our dots mean.
 */
function setUp(job: QueuedJob): string[] {
  const { format } = job;
  return [
    '',
    `SIZE ${mm(format.width)},${mm(labelLength(job))}`,
    ...settings(format),
    'DIRECTION 0,0',
    'REFERENCE 0,0',
  ];
}

/** Nothing is sent that the format does not set. */
function settings({ mediaTracking, speed, darkness, printMode, thermalMode }: PrinterFormat): string[] {
  return [
    ...(mediaTracking === undefined ? [] : [TRACKING[mediaTracking]]),
    ...(speed === undefined ? [] : [`SPEED ${speed}`]),
    ...(darkness === undefined ? [] : [`DENSITY ${Math.round(darkness)}`]),
    ...(thermalMode === undefined ? [] : [`SET RIBBON ${thermalMode === 'transfer' ? 'ON' : 'OFF'}`]),
    ...(printMode === undefined ? [] : PRINT_MODE[printMode]),
  ];
}

function mm(length: number): string {
  return `${Math.round(length * 100) / 100} mm`;
}
