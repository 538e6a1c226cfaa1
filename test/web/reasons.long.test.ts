/** Pages say why something cannot be printed in the language of whoever looks: a form, the rows of a file, a template. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { barriers } from '../kit/browser/browser.ts';
import { useConsole } from '../kit/browser/use-console.ts';
import { MUTE } from '../kit/service/mute-printer.ts';

const GOODS = {
  name: 'Goods',
  width: 60,
  height: 30,
  fields: [
    { name: 'until', sample: '2027-05-31' },
    { name: 'ean', sample: '4006381333931' },
  ],
  elements: [
    { type: 'text', x: 3, y: 3, width: 54, height: 8, size: 5, text: '{{until | date:dd.MM.yyyy}}' },
    { type: 'barcode', x: 3, y: 12, symbology: 'ean13', value: '{{ean}}', height: 10 },
  ],
};

const site = useConsole();
let page: Page;
let idT: string;
let print: string;
beforeAll(async () => {
  idT = (await site.up.admin.importTemplate('default', GOODS)).id;
  const printer = (await site.up.admin.printers()).find(({ name }) => name === 'virtual-1')?.id ?? '';
  print = `print?template=${idT}&printer=${encodeURIComponent(printer)}`;
  page = await site.signedIn({ locale: 'de-DE' });
});

test('what is typed is refused at its field', async () => {
  await site.show(page, print);
  await page.getByLabel('until').fill('2027-05-31');
  await page.getByLabel('ean').fill('4006381333932');
  const wrong = 'Die Prüfziffer ist falsch: Sie ist 1';
  await page.locator('.fault').getByText(wrong).waitFor();
  await page.getByRole('button', { name: '1 Etikett drucken' }).click();
  await page.getByRole('button', { name: 'Trotzdem drucken' }).click();
  const alert = page.getByRole('alert');
  await alert.getByText(`ean: ${wrong}`).waitFor();
  await alert.getByText('Ein Wert lässt sich nicht drucken', { exact: true }).waitFor();
  await expect.poll(() => page.locator('[aria-invalid="true"]').count()).toBe(1);
  expect(await barriers(page)).toEqual([]);
  await page.getByLabel('ean').fill('4006381333931');
  await alert.waitFor({ state: 'detached' });
});

test('rows of a file are refused by their fields', async () => {
  const file = join(site.dataDir, '..', 'goods.csv');
  await writeFile(file, 'until;ean\n2027-05-31;4006381333931\n31.5.;4006381333931\n2027-05-31;12\n');
  await site.show(page, print);
  await page.getByRole('button', { name: 'Aus einer Datei' }).click();
  await page.locator('input[type=file]').setInputFiles(file);
  await page.getByRole('button', { name: 'Alle Zeilen prüfen' }).click();
  await page.getByText('2 Zeilen lassen sich nicht drucken').waitFor();
  const rows = await page.locator('.note.bad li').allTextContents();
  expect(rows).toEqual([
    'Zeile 3: until: Erwartet ist ein Datum wie 2026-11-21 oder 2026-11-21T07:45:00Z',
    'Zeile 4: ean: EAN-13 fasst 12 Ziffern, oder 13 mit der Prüfziffer',
  ]);
});

test('a template is refused by its places, and warned of', async () => {
  const [bad, odd, filter, font] = ['bad', 'odd', 'filter', 'font'].map((name) =>
    join(site.dataDir, '..', `${name}.json`),
  );
  const element = { type: 'text', x: 40, y: 3, size: 4, text: 'x' };
  await writeFile(`${bad}`, JSON.stringify({ ...GOODS, name: 'Bad', elements: [{ ...element, x: 'a' }] }));
  await writeFile(`${odd}`, JSON.stringify({ ...GOODS, name: 'Odd', elements: [element] }));
  const filtered = { ...element, text: '{{until | gross}}' };
  await writeFile(`${filter}`, JSON.stringify({ ...GOODS, name: 'Filter', elements: [filtered] }));
  const own = { fonts: [{ name: 'Own', data: Buffer.alloc(64).toString('base64') }] };
  const elements = [{ ...element, font: 'Own' }];
  await writeFile(`${font}`, JSON.stringify({ ...GOODS, ...own, name: 'Font', elements }));
  await site.show(page, 'templates');
  await page.getByRole('button', { name: 'Importieren …' }).click();
  await page.locator('dialog input[type=file]').setInputFiles([`${bad}`, `${odd}`, `${filter}`, `${font}`]);
  await page.getByText('ist kein Platzhalter (Den Filter „gross“ gibt es nicht; es gibt ').waitFor();
  await page.getByText('Sie ist weder TTF noch OTF').first().waitFor();
  await page.getByText('Element 1, x: Erwartet ist eine Zahl').waitFor();
  await page.getByText('Feld 2: Das Feld wird nirgends gebraucht').waitFor();
  await page.locator('dialog').getByRole('button', { name: 'Schließen' }).click();
});

/** Words that occur in English sentences and not in German ones. */
const ENGLISH = /\b(?:the|is|of|with|has|and|it|at most|expected|cannot|than)\b/i;

test.each([
  [
    'Zpl',
    '^XA\n^PP\n^FO10,10^A0N,30^FDx^FS^XZ',
    'ZPL: Zeile 2: ^PP gilt für alle, die den Drucker benutzen: Er hält',
  ],
  [
    'Two',
    '^XA^FO10,10^A0N,30^FDx^FS^XZ\n^XA^FO10,10^A0N,30^FDy^FS^XZ',
    'ZPL: Zeile 2: Hier beginnt ein zweites',
  ],
  ['Counts', '^XA^FO10,10^A0N,30^SN001,1,Y^FS^XZ', 'ZPL: Zeile 1: ^SN zählt im Drucker'],
])('a label in ZPL that no template can have: %s', async (name, source, says) => {
  await refusedImport(`${name}.zpl`, source, says);
});

test.each([
  [
    'ecLevel',
    { symbology: 'pdf417', ecLevel: 9 },
    'Die Fehlerkorrektur („ecLevel“) von PDF417 ist eine Zahl von 0 bis 8',
  ],
  ['low', { symbology: 'code128', height: 0 }, 'Erwartet ist mehr als 0'],
  ['add', { symbology: 'code128', columns: 3, height: 8 }, 'Die Option „columns“ hat code128 nicht'],
])('a barcode with an option that it does not have: %s', async (name, options, says) => {
  const elements = [{ type: 'barcode', x: 3, y: 3, value: 'abc', ...options }];
  await refusedImport(`${name}.json`, JSON.stringify({ ...GOODS, fields: [], name, elements }), says);
});

test.each([
  ['declared', '<!DOCTYPE svg><path d="M0 0h9"/>', 'Ein SVG auf einem Etikett hat weder Dokumenttyp'],
  ['referring', '<path d="M0 0h9" id="&#65;"/>', 'Ein SVG auf einem Etikett hat keine Zeichenverweise'],
])('a picture that no label can have: %s', async (name, inside, says) => {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">${inside}</svg>`;
  const image = { type: 'image', x: 3, y: 3, width: 9, height: 9, data: Buffer.from(svg).toString('base64') };
  await refusedImport(
    `${name}.json`,
    JSON.stringify({ ...GOODS, fields: [], name, elements: [image] }),
    says,
  );
});

test('a sheet that its labels do not fit on', async () => {
  const sheet = { width: 100, height: 100, columns: 3, rows: 1, left: 0, top: 0 };
  const says = 'sheet › columns: Nebeneinander haben sie keinen Platz: Sie enden bei 180 mm';
  await refusedImport('sheet.json', JSON.stringify({ ...GOODS, name: 'Sheet', sheet }), says);
});

test('a value that is no member as the service knows them', async () => {
  const source = { ...GOODS, name: 'Odd member', dpi: 203.5, elements: [{ type: 'cloud' }] };
  await refusedImport('odd-member.json', JSON.stringify(source), 'dpi: Erwartet ist');
});

/** The import says exactly this, and nothing in English. */
async function refusedImport(name: string, text: string, says: string): Promise<void> {
  const file = join(site.dataDir, '..', name);
  await writeFile(file, text);
  await site.show(page, 'templates');
  await page.getByRole('button', { name: 'Importieren …' }).click();
  await page.locator('dialog input[type=file]').setInputFiles(file);
  const alert = page.locator('dialog').getByRole('alert');
  await expect.poll(() => alert.textContent(), { timeout: 15_000 }).toContain(says);
  expect(((await alert.textContent()) ?? '').replaceAll(/„[^“]*“/g, '')).not.toMatch(ENGLISH);
  await page.locator('dialog').getByRole('button', { name: 'Schließen' }).click();
}

test('a job says in German why somebody has to decide', async () => {
  const data = [{ until: '2027-05-31', ean: '4006381333931' }];
  const job = await site.up.admin.print('default', { idT, printer: MUTE, data });
  await site.up.ended(job);
  await site.show(page, `held/${job}`);
  await page.getByText('Alles ist gesendet, aber dieser Drucker kann nicht sagen').waitFor();
});
