/**
 * A label as a PNG with one bit for each dot, and its resolution. A picture is one page, so each page is a document of its own.
 */
import type { QueuedJob } from '../../../src/contract/queued-job.ts';
import { rasterizePage } from '../../../src/render/output/raster.ts';
import type { LabelEncoder } from '../language.ts';
import { encoderOfPages } from '../pages.ts';

export async function openPng(job: QueuedJob): Promise<LabelEncoder> {
  return await encoderOfPages(job, async (pages) => {
    const [run, ...more] = await Array.fromAsync(pages);
    if (run === undefined || run.copies > 1 || more.length > 0) throw new RangeError('A PNG has one page');
    return await rasterizePage(run.page);
  });
}
