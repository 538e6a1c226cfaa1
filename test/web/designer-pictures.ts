/** Takes the pictures of the designer in `docs/pictures/`: an element being dragged, a GS1 value, and a label side by side. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { ConsoleSite } from '../kit/browser/console-site.ts';
import { design } from '../kit/browser/designer.ts';

const ROOT = join(import.meta.dirname, '../..');
const SIZE = { width: 1200, height: 900 };

/** A label with a GS1 value that is nearly right. */
const PALLET = {
  name: 'Pallet label',
  width: 100,
  height: 50,
  fields: [
    { name: 'article', sample: 'Espresso Crema 1 kg' },
    { name: 'ean', sample: '4006381333931' },
    { name: 'until', sample: '2027-05-31' },
  ],
  elements: [
    { type: 'text', x: 4, y: 4, width: 92, height: 9, text: '{{article}}', size: 7 },
    {
      type: 'barcode',
      symbology: 'gs1-128',
      x: 4,
      y: 18,
      value: '(01){{ean | padleft:14:0}}(17){{until | date:yyMMdd}}',
      height: 18,
      module: 0.25,
      hri: 'below',
    },
  ],
};

/** @param out the folder for the pictures */
export async function designerPictures(site: ConsoleSite, out: string): Promise<void> {
  const shelf: unknown = JSON.parse(await readFile(join(ROOT, 'templates/shelf-50x25.json'), 'utf8'));
  const page = await opened(site, shelf);
  const thing = page.locator('.thing[aria-label^="Text"]').first();
  const box = (await thing.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await page.mouse.move(box.x + 10, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(box.x + 34, box.y + 40, { steps: 8 });
  await page.screenshot({ path: join(out, 'designer.png') });
  await page.mouse.up();
  await page.context().close();

  const pallet = await opened(site, PALLET);
  await pallet.locator('.thing[aria-label^="Barcode"]').focus();
  await pallet.locator('.ai').first().scrollIntoViewIfNeeded();
  await pallet.screenshot({ path: join(out, 'designer-gs1.png'), fullPage: true });
  await pallet.getByRole('button', { name: 'Side by side' }).click();
  for (let at = 0; at < 6; at += 1) await pallet.locator('.side-by-side img').nth(at).waitFor();
  await pallet.getByRole('dialog').screenshot({ path: join(out, 'designer-side-by-side.png') });
  await pallet.context().close();
}

async function opened(site: ConsoleSite, template: unknown): Promise<Page> {
  const page = await site.signedIn(SIZE);
  await design(site, page, template);
  return page;
}
