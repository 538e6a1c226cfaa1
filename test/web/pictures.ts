/**
 * `npm run pictures`: the console's pages as they stand in `docs/pictures/`, of an installation with something in it. By
 * hand, and not with every test run: pictures that change by a time of day say nothing in a diff.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import { labelRecord } from '../../src/contract/print-request.ts';
import { drawn } from '../kit/browser/browser.ts';
import { ConsoleSite } from '../kit/browser/console-site.ts';
import { MUTE } from '../kit/service/mute-printer.ts';

import { designerPictures } from './designer-pictures.ts';

const ROOT = join(import.meta.dirname, '../..');
const OUT = join(ROOT, 'docs/pictures');

const read = async (name: string): Promise<unknown> =>
  JSON.parse(await readFile(join(ROOT, 'templates', name), 'utf8'));

const site = await ConsoleSite.start({ args: ['--samples'] });
try {
  const { admin } = site.up;
  const templates = await admin.templates('default');
  const send = async (sample: string, name: RegExp, printer: string, numberCopies = 1) => {
    const idT = templates.find((one) => name.test(one.name))?.id ?? '';
    // What the browser has no letters for is no picture to show.
    const data = z
      .array(labelRecord)
      .parse(await read(`${sample}.records.json`))
      .slice(0, 3);
    return { idT, job: await admin.print('default', { idT, printer, numberCopies, data }) };
  };
  const shelf = await send('shelf-50x25', /^Shelf/, 'virtual-1');
  await send('price-70x38', /^Price/, 'virtual-1');
  const held = await send('shelf-50x25', /^Shelf/, MUTE);
  await site.up.ended(held.job);
  await site.up.ended(shelf.job, 120_000);
  const printer = (await admin.printers()).find(({ name }) => name === 'virtual-1')?.id ?? '';

  const light = await site.signedIn({ width: 1200, height: 760 });
  await take(light, 'job', `jobs/${shelf.job}`);
  await take(light, 'print', `print?template=${shelf.idT}&printer=${encodeURIComponent(printer)}`);
  await take(light, 'held', `held/${held.job}`);
  const dark = await site.signedIn({ width: 1200, height: 760, scheme: 'dark' });
  await take(dark, 'printer', `printers/${encodeURIComponent(printer)}`);
  await designerPictures(site, OUT);
} finally {
  await site.stop();
}

async function take(page: Page, name: string, address: string): Promise<void> {
  await site.show(page, address);
  await drawn(page);
  await page.screenshot({ path: join(OUT, `console-${name}.png`) });
}
