/** `platen render`: a template file and records, to ZPL, PDF and PNG, without a service. */
import { execFile } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { dots } from '../../src/contract/dots.ts';
import type { Bitmap } from '../../src/render/image/bitmap.ts';
import { encodePng } from '../../src/render/image/png-encoder.ts';
import { readSymbols } from '../kit/judges/judges.ts';
import { readEpl, readTspl } from '../kit/judges/label-printers.ts';
import { barcodesIn } from '../kit/judges/pictures.ts';
import { drawPwgRaster } from '../kit/judges/printed.ts';
import { OCR_B } from '../kit/judges/sample-fonts.ts';
import { PLATEN } from '../kit/programs/built.ts';
import { platen } from '../kit/service/platen.ts';
import { useDirectory } from '../kit/service/use-directory.ts';

const SAMPLE = join(import.meta.dirname, '..', '..', 'templates', 'shelf-50x25');
const run = promisify(execFile);

const directory = useDirectory();
let codes: string[];
beforeAll(async () => {
  const records: unknown = JSON.parse(await readFile(`${SAMPLE}.records.json`, 'utf8'));
  if (!Array.isArray(records)) throw new Error('no records');
  codes = records.map((record) => String(record.ean));
});

async function render(to: string, out: string, ...more: string[]): Promise<string[]> {
  const args = [
    'render',
    `${SAMPLE}.json`,
    '--data',
    `${SAMPLE}.records.json`,
    '--to',
    to,
    '--out',
    join(directory.path, out),
  ];
  const { code, stdout, stderr } = await platen([...args, ...more]);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return stdout.trim().split('\n');
}

test('PNG: a file for each label, at the dpi that was asked for', async () => {
  const paths = await render('png', 'label.png', '--dpi', '300', '--copies', '2');
  expect(paths).toHaveLength(codes.length * 2);
  expect(paths[0]).toBe(join(directory.path, 'label-0001.png'));
  for (const [index, path] of paths.entries()) {
    expect((await barcodesIn(path)).map((one) => one.text)).toEqual([codes[Math.floor(index / 2)]]);
  }
});

test('PDF: one file, a page for each label, each page exactly the label', async () => {
  const [path = ''] = await render('pdf', 'label.pdf', '--copies', '2');
  const { stdout } = await run('pdfinfo', ['-f', '1', '-l', '999', path]);
  const sizes = [...stdout.matchAll(/^Page +\d+ size: +([\d.]+) x ([\d.]+) pts/gm)];
  expect(sizes).toHaveLength(codes.length * 2);
  for (const [, width, height] of sizes) {
    expect((Number(width) / 72) * 25.4).toBeCloseTo(50, 2);
    expect((Number(height) / 72) * 25.4).toBeCloseTo(25, 2);
  }
  await run('pdftoppm', ['-r', '300', '-png', path, join(directory.path, 'page')]);
  const pages = (await readdir(directory.path)).filter((file) => /^page-\d+\.png$/.test(file)).sort();
  const read = await Promise.all(pages.map((page) => barcodesIn(join(directory.path, page))));
  expect(read.map((symbols) => symbols.map((one) => one.text))).toEqual(
    codes.flatMap((code) => [[code], [code]]),
  );
});

test('ZPL: one file, a stored format and one for each record, copies by the printer', async () => {
  const [path = ''] = await render('zpl', 'label.zpl', '--copies', '7');
  const zpl = await readFile(path, 'latin1');
  expect(zpl.match(/\^XA/g)).toHaveLength(1 + codes.length + 1);
  expect(zpl.match(/\^XFR:/g)).toHaveLength(codes.length);
  expect(zpl.match(/\^PQ7\b/g)).toHaveLength(codes.length);
});

test('what other printers speak: one file, read as a printer reads it', async () => {
  const size = { width: dots(50, 203), height: dots(25, 203), dpi: 203 };
  const read = async (to: string, ...more: string[]) =>
    readFile((await render(to, `label.${to}`, ...more))[0] ?? '');
  const labels = [
    readTspl(await read('tspl', '--copies', '2'), 203).flatMap(({ bitmap, copies }) =>
      Array<Bitmap>(copies).fill(bitmap),
    ),
    readEpl(await read('epl', '--copies', '2'), size.height).flatMap(({ bitmap, copies }) =>
      Array<Bitmap>(copies).fill(bitmap),
    ),
    await drawPwgRaster(await read('pwg-raster', '--copies', '2'), size),
  ];
  for (const bitmaps of labels) {
    const found = await Promise.all(bitmaps.map((bitmap) => readSymbols(encodePng(bitmap, 203))));
    expect(found.map(([symbol]) => symbol?.text)).toEqual(codes.flatMap((code) => [code, code]));
  }
  const [turned] = readTspl(await read('tspl', '--orientation', 'landscape'), 203);
  expect([turned?.bitmap.width, turned?.bitmap.height]).toEqual([size.height, size.width]);
});

test('raw ZPL: PNG and PDF, drawn with the dots it was written for', async () => {
  const file = join(directory.path, 'raw.zpl');
  await writeFile(file, '^XA^FO40,40^BY2^BCN,80,N,N,N^FDRAW-42^FS^XZ');
  for (const [to, out] of [
    ['png', 'raw.png'],
    ['pdf', 'raw.pdf'],
  ] as const) {
    const path = join(directory.path, out);
    const { code, stderr } = await platen(['render', file, '--to', to, '--out', path]);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    if (to === 'pdf')
      await run('pdftoppm', ['-r', '203', '-png', '-singlefile', path, path.replace('.pdf', '')]);
    expect((await barcodesIn(join(directory.path, 'raw.png'))).map((one) => one.text)).toEqual(['RAW-42']);
    await rm(join(directory.path, 'raw.png'));
  }
});

test('a font in a file beside the template', async () => {
  const file = join(directory.path, 'brand.json');
  await writeFile(join(directory.path, 'brand.ttf'), OCR_B);
  const template = (font: string) => ({
    name: 'Brand',
    width: 50,
    height: 25,
    fonts: [{ name: 'Brand', file: font }],
    elements: [{ type: 'text', x: 2, y: 2, size: 3, text: 'Batch 4711', font: 'Brand' }],
  });
  await writeFile(file, JSON.stringify(template('brand.ttf')));
  expect(await platen(['template', 'check', file])).toMatchObject({ code: 0, stdout: 'No faults found.\n' });
  expect(await platen(['render', file, '--to', 'pdf', '--out', `${file}.pdf`])).toMatchObject({ code: 0 });
  expect((await run('pdffonts', [`${file}.pdf`])).stdout).toContain('OCRB');
  await writeFile(file, JSON.stringify(template('none.ttf')));
  expect(await platen(['template', 'check', file])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`Cannot read the font ${join(directory.path, 'none.ttf')}`),
  });
});

test('copies that count: each label by itself', async () => {
  const file = join(directory.path, 'counts.zpl');
  await writeFile(file, '^XA^FO40,40^BY2^BCN,80,N,N,N^FDC{{$copy}}OF{{$copies}}^FS^XZ');
  const render = ['render', file, '--to', 'zpl', '--copies', '3', '--out', `${file}.out`];
  expect(await platen(render)).toMatchObject({ code: 0, stderr: '' });
  expect((await readFile(`${file}.out`, 'latin1')).match(/\^FDC.*?\^PQ1\b/g)).toEqual([
    expect.stringContaining('^FDC1OF3'),
    expect.stringContaining('^FDC2OF3'),
    expect.stringContaining('^FDC3OF3'),
  ]);
});

test('sheets: pages as PNG, as many labels as ever in ZPL', async () => {
  const file = SAMPLE.replace('shelf-50x25', 'address-sheet-a4-3x8');
  const out = (name: string) => join(directory.path, name);
  const make = (to: string, name: string) =>
    platen([
      'render',
      `${file}.json`,
      '--data',
      `${file}.records.json`,
      '--copies',
      '5',
      '--to',
      to,
      '--out',
      out(name),
    ]);
  // 25 labels on sheets of 24.
  expect((await make('png', 'sheet.png')).stdout).toBe(
    `${out('sheet-0001.png')}\n${out('sheet-0002.png')}\n`,
  );
  const found = await Promise.all(['sheet-0001.png', 'sheet-0002.png'].map((name) => barcodesIn(out(name))));
  expect(found.map((codes) => codes.length)).toEqual([24, 1]);
  await make('zpl', 'sheet.zpl');
  expect((await readFile(out('sheet.zpl'), 'latin1')).match(/\^PQ5\b/g)).toHaveLength(5);
});

test('a template file that is not one: each member is named', async () => {
  const file = join(directory.path, 'misspelt.json');
  await writeFile(file, JSON.stringify({ name: 'x', width: 50, hieght: 25, elements: [] }));
  const { code, stderr } = await platen([
    'render',
    file,
    '--to',
    'png',
    '--out',
    join(directory.path, 'x.png'),
  ]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/unknown field hieght\n *→ at hieght/);
  expect(stderr).toMatch(/→ at height/);
});

test('without --data the samples of the fields, without --to what the ending says', async () => {
  const out = join(directory.path, 'sampled.png');
  const { code, stdout } = await platen(['render', `${SAMPLE}.json`, '--out', out]);
  expect([code, stdout]).toEqual([0, `${out}\n`]);
  const template = z
    .object({ fields: z.array(z.object({ name: z.string(), sample: z.string() })) })
    .parse(JSON.parse(await readFile(`${SAMPLE}.json`, 'utf8')));
  const sample = template.fields.find(({ name }) => name === 'ean')?.sample;
  expect(await barcodesIn(out)).toMatchObject([{ format: 'EAN13', text: sample }]);
  const refused = await platen(['render', `${SAMPLE}.json`, '--out', join(directory.path, 'folder')]);
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining('.zpl, .tspl, .epl, .pdf, .pwg, .png'),
  ]);
});

test('--out - is standard output, which takes one picture', async () => {
  const piped = async (to: string) => {
    const { stdout } = await run(PLATEN, ['render', `${SAMPLE}.json`, '--to', to, '--out', '-'], {
      encoding: 'buffer',
      cwd: directory.path,
    });
    return stdout;
  };
  const file = join(directory.path, 'piped.png');
  await writeFile(file, await piped('png'));
  expect(await barcodesIn(file)).toHaveLength(1);
  expect((await piped('pdf')).subarray(0, 5).toString()).toBe('%PDF-');
  expect((await piped('zpl')).toString('latin1')).toMatch(/\^XZ\s*$/);
  expect(await readdir(directory.path)).not.toContain('-');
  const several = await platen(['render', `${SAMPLE}.json`, '--to', 'png', '--out', '-', '--copies', '2']);
  expect([several.code, several.stdout, several.stderr]).toEqual([
    2,
    '',
    expect.stringContaining('2 pictures'),
  ]);
});

test('a picture in a file beside the template', async () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 4"><rect width="4" height="4"/></svg>';
  const [file, out] = [join(directory.path, 'pictured.json'), join(directory.path, 'pictured.png')];
  await writeFile(join(directory.path, 'square.svg'), svg);
  const square = { type: 'image', y: 2, width: 4, height: 4 };
  const template = (elements: object[]) => ({ name: 'Pictured', width: 20, height: 10, elements });
  const named = {
    ...template([{ ...square, x: 8, image: 's' }]),
    images: [{ name: 's', file: 'square.svg' }],
  };
  const data = Buffer.from(svg).toString('base64');
  const pictures = [
    template([{ ...square, x: 8, data }]),
    template([{ ...square, x: 8, file: 'square.svg' }]),
    named,
  ].map(async (one, place) => {
    await writeFile(`${file}${place}`, JSON.stringify(one));
    expect(
      await platen(['render', `${file}${place}`, '--out', out.replace('.png', `${place}.png`)]),
    ).toMatchObject({ code: 0 });
    return await readFile(out.replace('.png', `${place}.png`), 'base64');
  });
  const [given, ...read] = await Promise.all(pictures);
  expect(read).toEqual([given, given]);
});
