/** The label that is printed: a sample tube's, drawn by the printer's own font but for the DataMatrix. */
import type { LabelRecord } from '../src/contract/print-request.ts';

const text = (value: string, y: number, size: number) => ({
  type: 'text',
  x: 13,
  y,
  width: 24,
  height: 5,
  text: value,
  size,
});

export const TEMPLATE = {
  name: 'Benchmark tube 38×19 mm',
  width: 38,
  height: 19,
  fields: [{ name: 'sampleId' }, { name: 'name' }, { name: 'collected' }],
  elements: [
    { type: 'barcode', symbology: 'datamatrix', x: 1, y: 1, width: 11, value: '{{sampleId}}', module: 0.625 },
    text('{{sampleId}}', 1, 4),
    text('{{name}}', 6.5, 4),
    text('{{collected}}', 12.5, 2.5),
  ],
};

export function record(number: number): LabelRecord {
  return {
    sampleId: `26-${String(number).padStart(7, '0')}`,
    name: `Patient ${number}`,
    collected: '2026-11-21 07:45',
  };
}

/** A finished label of 1 KB of ZPL, for measurements that render none. */
export const RAW_LABEL = Buffer.from(`^XA^FX${'x'.repeat(1_024 - 9)}^XZ`);
