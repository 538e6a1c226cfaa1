/** Labels that rendering is measured with, 4×6 inch: texts in the printer's fonts, or drawn as pictures. */
import type { PrinterFormat } from '../src/contract/format.ts';
import type { LabelRecord } from '../src/contract/print-request.ts';
import type { QueuedJob } from '../src/contract/queued-job.ts';
import { designedTemplate } from '../src/contract/template.ts';

export const DPI = 203;
const WIDTH = 101.6;
const HEIGHT = 152.4;

const text = (value: string, x: number, y: number, size: number, more: object = {}) => ({
  type: 'text',
  x,
  y,
  text: value,
  size,
  ...more,
});

/** A delivery label; `more` is set on each of its texts. */
function delivery(name: string, more: object) {
  return designedTemplate.parse({
    name,
    width: WIDTH,
    height: HEIGHT,
    fields: Object.keys(record(0)).map((field) => ({ name: field })),
    elements: [
      { type: 'box', x: 2, y: 2, width: 97, height: 148, thickness: 0.5 },
      text('Ship to', 5, 5, 4, more),
      text('{{name}}', 5, 11, 5, { width: 90, height: 6, ...more }),
      text('{{street}}', 5, 18, 5, { width: 90, height: 6, ...more }),
      text('{{postcode}} {{city}}', 5, 25, 7, { width: 90, height: 8, ...more }),
      { type: 'line', x: 2, y: 36, x2: 99, y2: 36 },
      text('Order {{order}}', 5, 40, 4, more),
      text('Weight {{weight}} kg', 55, 40, 4, more),
      {
        type: 'barcode',
        symbology: 'code128',
        x: 5,
        y: 60,
        height: 25,
        value: '{{sscc}}',
        hri: 'below',
        module: 0.4,
      },
    ],
  });
}

export const LABELS = {
  /** Everything on it is drawn by the printer. */
  native: delivery('Benchmark, native', {}),
  /** Its texts are in a face that printers do not have. */
  drawn: delivery('Benchmark, drawn', { font: 'sans' }),
};
export type LabelName = keyof typeof LABELS;

export function record(number: number): LabelRecord {
  return {
    name: `Riverside Laboratories ${number}`,
    street: `${(number % 99) + 1} Old Harbour Road, Gate 4`,
    postcode: String(10_000 + (number % 90_000)),
    city: ['Hamburg', 'Lyon', 'Gothenburg'][number % 3] ?? '',
    order: `SO-${100_000 + number}`,
    weight: ((number % 1_000) / 10).toFixed(1),
    sscc: String(340_123_450_000_000_000n + BigInt(number)),
  };
}

/** UTF-8 bytes of a record's values. */
export function dataBytes(values: LabelRecord): number {
  return Buffer.byteLength(Object.values(values).join(''));
}

export function jobOf(label: LabelName, records: number, format: Partial<PrinterFormat> = {}): QueuedJob {
  return {
    v: 1,
    jobId: '00000000-0000-4000-8000-000000000000',
    tenantId: 'bench',
    scope: null,
    printerId: 'address-00000000',
    templateId: 'bench',
    template: LABELS[label],
    format: {
      id: 'bench',
      name: 'bench',
      language: 'zpl',
      dpi: DPI,
      width: WIDTH,
      height: HEIGHT,
      ...format,
    },
    orientation: 'portrait',
    copies: 1,
    records: Array.from({ length: records }, (_, number) => record(number)),
    createdAt: '2026-11-21T00:00:00.000Z',
  };
}
