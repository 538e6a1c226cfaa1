/**
 * `npm run pictures` takes the pictures of the console's pages in `docs/pictures/`, of an installation that has jobs. It is run
 * by hand and not with the tests, because pictures that differ in a time of day say nothing in a diff.
 */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { drawn } from '../kit/browser/browser.ts';
import { ConsoleSite } from '../kit/browser/console-site.ts';
import { MUTE } from '../kit/service/mute-printer.ts';
import { designerPictures } from './designer-pictures.ts';
import { tracePicture } from './trace-picture.ts';

const OUT = join(import.meta.dirname, '../../docs/pictures');

const site = await ConsoleSite.start({ args: ['--samples'] });
try {
  const { admin } = site.up;
  const shelf = await site.printSample('shelf-50x25', /^Shelf/, 'virtual-1');
  const price = await site.printSample('price-70x38', /^Price/, 'virtual-1');
  const held = await site.printSample('shelf-50x25', /^Shelf/, MUTE);
  await site.up.ended(held.job);
  await site.up.ended(shelf.job, 120_000);
  await site.up.ended(price.job, 120_000);
  const printer = (await admin.printers()).find(({ name }) => name === 'virtual-1')?.id ?? '';

  const light = await site.signedIn({ width: 1200, height: 760 });
  await take(light, 'job', `jobs/${shelf.job}`);
  await take(light, 'print', `print?template=${shelf.idT}&printer=${encodeURIComponent(printer)}`);
  await take(light, 'held', `held/${held.job}`);
  const dark = await site.signedIn({ width: 1200, height: 760, scheme: 'dark' });
  await take(dark, 'printer', `printers/${encodeURIComponent(printer)}`);
  await designerPictures(site, OUT);
  await tracePicture(OUT);
} finally {
  await site.stop();
}
// The browser, which test files share, would keep the process alive.
process.exit();

async function take(page: Page, name: string, address: string): Promise<void> {
  await site.show(page, address);
  await drawn(page);
  await page.screenshot({ path: join(OUT, `console-${name}.png`) });
}
