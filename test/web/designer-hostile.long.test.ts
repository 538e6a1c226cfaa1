/** What a stranger puts into a template: names that are scripts, pictures that are bombs, more than a template may have. */
import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { preview } from '../../src/contract/label-picture.ts';
import { LIMITS } from '../../src/contract/limits.ts';
import { HOSTILE } from '../kit/browser/console-site.ts';
import { design, labelDrawn } from '../kit/browser/designer.ts';
import { useConsole } from '../kit/browser/use-console.ts';
import { useService, useTenant } from '../kit/service/use-service.ts';

const LABEL = { name: 'Strange', width: 50, height: 25 };
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==';

describe('names that are scripts', () => {
  const site = useConsole();

  const template = {
    ...LABEL,
    name: HOSTILE,
    timeZone: 'Europe/Berlin',
    fields: [{ name: HOSTILE, sample: HOSTILE, default: HOSTILE }],
    images: [{ name: HOSTILE, data: DOT }],
    elements: [
      {
        type: 'text',
        x: 1,
        y: 1,
        width: 48,
        height: 4,
        size: 2,
        text: `${HOSTILE}{{${HOSTILE}}}`,
        group: HOSTILE,
      },
      {
        type: 'barcode',
        symbology: 'gs1-128',
        x: 1,
        y: 8,
        height: 5,
        value: `(10)${HOSTILE}`,
        group: HOSTILE,
      },
      { type: 'image', x: 40, y: 15, width: 5, height: 5, image: HOSTILE },
      { type: 'box', x: 1, y: 20, width: 5, height: 3, when: `{{${HOSTILE}}}` },
    ],
  };

  test('are shown as they are, in every panel of the designer, and run nowhere', async () => {
    const page = await site.signedIn();
    await site.show(page, 'templates/new');
    await design(site, page, { ...template, elements: [] });
    // Pasting also brings in what an import would refuse.
    await page.evaluate(
      `(() => { const data = new DataTransfer(); data.setData('text/plain', ${JSON.stringify(JSON.stringify(template.elements))});
        document.querySelector('.canvas').dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true })); })()`,
    );
    await expect.poll(() => page.locator('.thing').count()).toBe(4);
    await labelDrawn(page);
    const seen: string[] = [];
    for (const tab of ['Properties', 'Layers', 'Fields', 'Label', 'Problems']) {
      await page.getByRole('tab', { name: tab }).click();
      seen.push(await page.locator('.side-panel').innerHTML());
    }
    await page.getByRole('tab', { name: 'Properties' }).click();
    for (const kind of ['Text', 'Barcode', 'Picture', 'Box']) {
      await page.locator(`.thing[aria-label^="${kind}"]`).focus();
      seen.push(await page.locator('.side-panel').innerHTML());
    }
    await page.getByRole('tab', { name: 'Fields' }).click();
    await page.getByLabel('Shown with').selectOption({ label: 'Rows of an Excel or CSV file' });
    await page.getByLabel('File (Excel, CSV)', { exact: true }).setInputFiles({
      name: `${HOSTILE}.csv`,
      mimeType: 'text/csv',
      buffer: Buffer.from(`"${HOSTILE.replaceAll('"', '""')}x"\n"${HOSTILE.replaceAll('"', '""')}"`),
    });
    await page.getByText('No column is called as these fields are').waitFor();
    await page.getByRole('button', { name: 'More: View' }).click();
    await page.getByRole('button', { name: 'Side by side' }).click();
    await page.getByRole('dialog').locator('figcaption .problems').first().waitFor();
    expect(await page.locator('img[src="x"], [onerror]').count()).toBe(0);
    expect(seen.filter((html) => html.includes('onerror')).length).toBeGreaterThan(3);
    expect(seen.filter((html) => /<img/.test(html.replaceAll(/"[^"]*"/g, '')))).toEqual([]);
    expect(site.faults).toEqual([]);
  });
});

/** A PNG's signature and header, and chunks after it. */
function png(width: number, height: number, ...chunks: [string, Buffer][]): string {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([1, 0, 0, 0, 0], 8);
  const all: [string, Buffer][] = [['IHDR', header], ...chunks];
  const parts = all.map(([name, data]) => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const ends = Buffer.alloc(8);
    ends.writeUInt32BE(data.length, 0);
    ends.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
  });
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...parts]).toString('base64');
}

const svg = (inside: string) =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">${inside}</svg>`).toString('base64');
const GIF = Buffer.from('GIF89a\x01\x00\x01\x00\x80\x00\x00', 'latin1').toString('base64');

describe('pictures that are bombs', () => {
  const service = useService({ redis: false });
  useTenant(service);

  const problem = z.object({
    code: z.string(),
    errors: z.array(z.object({ pointer: z.string(), detail: z.string() })),
  });
  const element = { type: 'image', x: 1, y: 1, width: 9, height: 9 };

  test.each([
    ['30,000 × 30,000 in its header', png(30_000, 30_000), /30000 × 30000 pixels; the limit is 16000000/],
    ['no side', png(0, 7), /no size/],
    ['a script', svg('<script>alert(1)</script>'), /no <script>/],
    ['a picture of somewhere else', svg('<image href="http://127.0.0.1/x"/>'), /no <image>/],
    [
      'a paint of somewhere else',
      svg('<path fill="url(http://127.0.0.1/#x)" d="M0 0h9v9z"/>'),
      /nothing outside/,
    ],
    [
      'entities',
      Buffer.from('<!DOCTYPE svg [<!ENTITY a "aa">]><svg>&a;</svg>').toString('base64'),
      /picture|SVG/,
    ],
    ['5,001 elements', svg('<path/>'.repeat(5_001)), /more than 5000 elements/],
    ['an animation (GIF)', GIF, /none of PNG, JPEG and SVG/],
    ['an animated SVG', svg('<animate attributeName="x"/>'), /SVG/],
    ['nothing that is a picture', Buffer.from('MZ').toString('base64'), /none of PNG, JPEG and SVG/],
  ])('%s: refused with the element, and what was expected', async (_, data, says) => {
    const own = { ...LABEL, elements: [{ ...element, data }] };
    const named = { ...LABEL, images: [{ name: 'a', data }], elements: [{ ...element, image: 'a' }] };
    for (const [template, pointer] of [
      [own, '/elements/0'],
      [named, '/images/0/data'],
    ] as const) {
      const shown = await service.admin('POST', '/tenants/acme/templates/preview', { template });
      const { problems, boxes } = preview.parse(shown.body);
      const found = problems.find((one) => one.pointer === pointer);
      expect(found).toMatchObject({ severity: 'error', message: expect.stringMatching(says) });
      expect(boxes).toEqual([]);
      const imported = await service.admin('POST', '/tenants/acme/templates', template);
      expect(imported.status).toBe(400);
      expect(problem.parse(imported.body).errors.map((one) => one.pointer)).toContain(pointer);
    }
  });

  const texts = (count: number) =>
    Array.from({ length: count }, () => ({ type: 'text', x: 1, y: 1, text: 'x', size: 2 }));
  test.each([
    ['elements', { elements: texts(LIMITS.elements + 1) }, '/elements'],
    [
      'a text',
      { elements: [{ ...texts(1)[0], text: 'x'.repeat(LIMITS.valueLength + 1) }] },
      '/elements/0/text',
    ],
    [
      'pictures',
      { images: Array.from({ length: 101 }, (_, at) => ({ name: `${at}`, data: DOT })), elements: [] },
      '/images',
    ],
    ['a side', { width: 2_001, elements: [] }, '/width'],
    ['a group', { elements: [{ ...texts(1)[0], group: 'x'.repeat(101) }] }, '/elements/0/group'],
    [
      'fields',
      { fields: Array.from({ length: 501 }, (_, at) => ({ name: `${at}` })), elements: [] },
      '/fields',
    ],
    [
      'labels on a sheet',
      { sheet: { width: 2_000, height: 2_000, columns: 40, rows: 80, left: 0, top: 0 }, elements: [] },
      '/sheet/rows',
    ],
    [
      'a font',
      { fonts: [{ name: 'a', data: 'AAAA'.repeat(LIMITS.fontBytes / 3 + 1) }], elements: [] },
      '/fonts/0/data',
    ],
  ])('more than there may be of %s: refused, and the member named', async (_, members, pointer) => {
    const template = { ...LABEL, ...members };
    for (const [path, body] of [
      ['/tenants/acme/templates/preview', { template }],
      ['/tenants/acme/templates', template],
    ] as const) {
      const answer = await service.admin('POST', path, body);
      expect(answer.status).toBe(400);
      const { errors } = problem.parse(answer.body);
      expect(errors.map((one) => one.pointer)).toContainEqual(expect.stringContaining(pointer));
    }
  });

  test('a label of too many dots is not drawn, and says how many it may have', async () => {
    const template = { ...LABEL, width: 2_000, height: 2_000, elements: texts(1) };
    const { body } = await service.admin('POST', '/tenants/acme/templates/preview', { template, dpi: 1_200 });
    const { png: drawn, problems } = preview.parse(body);
    expect(drawn).toBeNull();
    expect(problems).toMatchObject([
      { severity: 'error', message: expect.stringMatching(/100 million|100000000/) },
    ]);
  });

  test('a body beyond the limit is not read', async () => {
    const template = { ...LABEL, elements: [{ ...element, data: 'A'.repeat(LIMITS.bodyBytes) }] };
    const answer = await service.admin('POST', '/tenants/acme/templates/preview', { template });
    expect(answer.status).toBe(413);
  });
});
