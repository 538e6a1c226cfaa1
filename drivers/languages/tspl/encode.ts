/**
 * Encodes labels in TSPL and TSPL2, the language of TSC's printers and of many similar ones.
 *
 * A label is sent as dots, with one BITMAP for each inked block. There are two reasons: every printer of the family draws
 * bitmaps alike, unlike fonts and barcodes; and nothing that a record holds can become a command.
 *
 * Two things in the TSPL/TSPL2 Programming Language manual matter here. "BITMAP": a 0 bit prints a dot, and mode 0 (OVERWRITE)
 * takes the data as it is. And `<ESC>!` starts a command that is carried out wherever it arrives, even in the data of a BITMAP
 * ("<ESC>!R" restarts the printer). So the data never has these two bytes in a row.
 */
import type { PrinterFormat } from '../../../src/contract/format.ts';
import type { QueuedJob } from '../../../src/contract/queued-job.ts';
import { tsplDeletion } from '../../../src/programs/tspl.ts';
import { encoderOfDots, labelLength } from '../label-dots.ts';

const IMMEDIATE = [0x1b, 0x21] as const;
/** The usual length of a gap or mark, 3 mm, which LPrint uses too. GAP and BLINE need it, and a format does not hold it. */
const BETWEEN_LABELS = '3 mm,0 mm';

const TRACKING = {
  continuous: 'GAP 0 mm,0 mm',
  gap: `GAP ${BETWEEN_LABELS}`,
  mark: `BLINE ${BETWEEN_LABELS}`,
} as const;

/** Each mode also switches off what other modes switch on. An applicator can only be set up at the printer. */
const PRINT_MODE = {
  'tear-off': ['SET PEEL OFF', 'SET CUTTER OFF', 'SET TEAR ON'],
  'peel-off': ['SET CUTTER OFF', 'SET PEEL ON'],
  rewind: ['SET PEEL OFF', 'SET CUTTER OFF', 'SET TEAR OFF'],
  applicator: [],
  // Cut after every label.
  cutter: ['SET PEEL OFF', 'SET CUTTER 1'],
} as const;

export const openTspl = encoderOfDots({
  setUp,
  clear: 'CLS',
  draw: ({ x, y, stride, height }) => `BITMAP ${x},${y},${stride},${height},0,`,
  overhead: 30,
  apart: IMMEDIATE,
  print: (copies) => `PRINT 1,${copies}`,
  program: {
    start: (job) => ['', labelSize(job), ...PLACE],
    // These are the factory settings of TSC's printers.
    usual: { CODEPAGE: 'CODEPAGE 850', COUNTRY: 'COUNTRY 001' },
    deletion: tsplDeletion,
  },
});

const PLACE = ['DIRECTION 0,0', 'REFERENCE 0,0'];

/**
 * The commands before a job's labels. The empty first line ends what another sender may have left unfinished.
 * DIRECTION and REFERENCE stay in force from earlier jobs, so both are reset to what the dots assume.
 */
function setUp(job: QueuedJob): string[] {
  return ['', labelSize(job), ...settings(job.format), ...PLACE];
}

function labelSize(job: QueuedJob): string {
  return `SIZE ${mm(job.format.width)},${mm(labelLength(job))}`;
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
