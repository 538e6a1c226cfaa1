/**
 * PNG (ISO/IEC 15948), for driverless printers that take neither a printer's language nor PDF nor PWG raster: one bit a
 * dot, with its resolution. A picture is one page, so each page is a document of its own.
 */
import { rasterizePage } from '../../../src/render/raster.ts';
import type { LabelRun, Language } from '../language.ts';
import { openPages } from '../pages.ts';

export const png: Language = {
  id: 'png',
  mediaType: 'image/png',
  pagesPerDocument: 1,
  open: async (job) => {
    const pages = await openPages(job);
    const document = async (labels: readonly LabelRun[]) => {
      const pictures: Uint8Array[] = [];
      for await (const { page, copies } of pages(labels)) {
        if (copies > 1 || pictures.length > 0) throw new RangeError('A PNG has one page');
        pictures.push(await rasterizePage(page));
      }
      const [picture] = pictures;
      if (picture === undefined) throw new RangeError('A PNG has a page');
      return picture;
    };
    return {
      begin: () => new Uint8Array(),
      label: (record, copies, copy = 0) => document([{ record, copies, copy }]),
      document,
      end: () => new Uint8Array(),
    };
  },
};
