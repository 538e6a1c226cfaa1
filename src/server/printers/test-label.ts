/** A label that says which printer it came from, in which format and when, and no data of anybody. */
import { v7 as uuid } from 'uuid';
import type { PrinterFormat } from '../../contract/format.ts';
import type { Scope } from '../../contract/lane.ts';
import type { QueuedJob } from '../../contract/queued-job.ts';
import { designedTemplate } from '../../contract/template.ts';

/** mm between the text and the edges of the label. */
const EDGE = 1;

export function testJob(
  tenantId: string,
  printer: { id: string; scope: Scope; name: string },
  format: PrinterFormat,
): QueuedJob {
  const { width, height } = format;
  const [w, h] = [Math.min(width, 2_000), Math.min(height, 100)];
  const createdAt = new Date().toISOString();
  const lines = ['Platen test label', printer.name, format.name, `${createdAt.slice(0, 16)}Z`];
  const step = Math.min(6, (h - 2 * EDGE) / lines.length);
  const template = designedTemplate.parse({
    name: 'Test label',
    width: w,
    height: h,
    elements: lines.map((text, at) => ({
      ...{ type: 'text', x: EDGE, y: EDGE + at * step, width: w - 2 * EDGE, height: step },
      // A name may hold braces, which are no placeholder here.
      ...{ size: step * 0.7, overflow: 'shrink', text: text.replaceAll('{{', '{ {') },
    })),
  });
  return {
    ...{ v: 1, jobId: uuid(), tenantId, scope: printer.scope, printerId: printer.id },
    ...{
      templateId: 'test-label',
      template,
      format,
      orientation: 'portrait',
      copies: 1,
      records: [{}],
      createdAt,
    },
  };
}
