/** Tenants that share a printer: what one prints changes nothing for the next. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { standardDrivers } from '../../src/agent/drivers.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { type Template, template } from '../../src/contract/template.ts';
import { jobFor } from '../kit/agent/site.ts';
import { useSite } from '../kit/agent/use-site.ts';

const site = useSite();

function raw(source: string): Template {
  return template.parse({ name: 'Raw', language: 'zpl', source });
}

const DESIGNED = template.parse({
  name: 'Designed',
  width: 50,
  height: 25,
  elements: [
    { type: 'text', x: 3, y: 3, size: 5, text: 'Mine' },
    { type: 'barcode', symbology: 'code128', x: 3, y: 10, height: 8, value: 'MINE' },
  ],
});

test("a raw label of one tenant neither stops the printer nor moves the next tenant's label", async () => {
  const { printer, printerId } = await site.startServedPrinter({}, { drivers: standardDrivers });
  const pictures: Buffer[] = [];
  printer.on('label', ({ file }) => pictures.push(readFileSync(file)));
  const print = async (tenantId: string, made: Template, more: Partial<QueuedJob> = {}) => {
    const job = await site.enqueue({ ...jobFor(printerId, ['1']), tenantId, template: made, ...more });
    return await site.reports.end(job.jobId);
  };
  const printed = { status: 'printed', labels: { sent: 1, printed: 1 } };

  expect(await print('other', DESIGNED)).toMatchObject(printed);
  // As it may have been queued before such a template was refused.
  expect(await print('acme', raw('^XA^FO9,9^FDx^FS\n^PP^XZ'))).toMatchObject({
    status: 'failed',
    labels: { sent: 0, printed: 0 },
    error: {
      code: 'template-invalid',
      message: expect.stringMatching(/line 2: \^PP is for all that use the printer: it pauses the printer/),
    },
  });
  const state = '^POI^LS50^LT40^PMY^LRY^LH60,40^MUM^FWR,1^CF0,60^BY5^PW100^LL60^CI13';
  expect(await print('acme', raw(`^XA${state}^FO1,1^GB3,3,1^FS^PQ1,1^XZ`))).toMatchObject(printed);
  expect(await print('other', DESIGNED)).toMatchObject(printed);
  expect(pictures).toHaveLength(3);
  expect(pictures[2]).toEqual(pictures[0]);
  expect(pictures[1]).not.toEqual(pictures[0]);

  // Where an administrator has allowed it, it is done.
  const paused = new Promise((resolve) => printer.on('status', ({ paused: now }) => now && resolve(now)));
  await site.enqueue({
    ...jobFor(printerId, ['1']),
    template: raw('^XA^FO9,9^FDx^FS^PP^XZ'),
    printerCommands: true as const,
  });
  await paused;
});
