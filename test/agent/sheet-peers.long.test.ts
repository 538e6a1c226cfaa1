/** A sheet of labels through a printer of others, the PWG's sample printer, in every language of pages. */
import { expect, test } from 'vitest';
import { IppClient } from '../../drivers/ipp/client.ts';
import { stringsOf } from '../../drivers/ipp/message.ts';
import { LANGUAGES, printsPages } from '../../drivers/languages/index.ts';
import { standardDrivers } from '../../src/agent/drivers.ts';
import { type LanguageId, languageId } from '../../src/contract/format.ts';
import { encodePng } from '../../src/render/image/png-encoder.ts';
import { jobFor } from '../kit/agent/site.ts';
import { useSite } from '../kit/agent/use-site.ts';
import { drawPdf } from '../kit/judges/judges.ts';
import { drawPwgRaster } from '../kit/judges/printed.ts';
import { codesByCell } from '../kit/judges/sheet-cells.ts';
import { startIppeveprinter } from '../kit/programs/ippeveprinter.ts';
import { readSample, SAMPLE_CODES } from '../languages/samples.ts';

const NAME = 'address-sheet-a4-3x8.json';
const DPI = 300;
const A4 = { width: 210, height: 297 };
const site = useSite();

/** A document of one page as a picture. */
async function picture(language: LanguageId, document: Uint8Array): Promise<Uint8Array> {
  if (language === 'pdf') return await drawPdf(document, DPI);
  if (language === 'png') return document;
  const size = { width: 2480, height: 3508, dpi: DPI };
  const [page, ...more] = await drawPwgRaster(document, size);
  if (page === undefined || more.length > 0) throw new Error(`expected one page, got ${more.length + 1}`);
  return encodePng(page, DPI);
}

test.each(languageId.options.filter(printsPages))(
  '%s: 26 labels are a whole page and two labels',
  async (language) => {
    const formats = [LANGUAGES[language].mediaTypes[0]];
    const eve = await startIppeveprinter('marker-supply-low-report', { formats });
    site.running(eve);
    const { printerId } = await site.startAgent(eve, {
      drivers: standardDrivers,
    });
    const { template, records } = await readSample(NAME);
    // Copies lie across the border of the pages.
    const job = {
      ...jobFor(printerId, 1, 13),
      template,
      records: records.slice(0, 2),
      format: { id: 'a4', name: 'A4', language, dpi: DPI, ...A4 },
    };
    expect(await site.print(job)).toMatchObject({
      status: 'printed',
      labels: { sent: 26, printed: 26 },
    });
    const labels = job.records.flatMap((record) => {
      const code = SAMPLE_CODES[NAME]?.(record)[0];
      return Array.from({ length: job.copies }, () => code);
    });
    const { sheet } = template;
    if (sheet === undefined) throw new Error('the sample has a sheet');
    const pages = await Promise.all(
      eve.printed().map(async (document) => codesByCell(await picture(language, document), sheet, DPI)),
    );
    expect(pages).toEqual([labels.slice(0, 24), labels.slice(24)]);

    // Its own defaults may be others; it counts its jobs from 1.
    const client = new IppClient(eve.uri);
    for (const id of [1, 2]) {
      const said = await client.getJobAttributes(id, AbortSignal.timeout(5_000), ['sides']);
      expect(stringsOf(said, 'sides')).toEqual(['one-sided']);
    }
    client.close();
  },
);
