/**
 * The designer shows the same dots as `platen render --to png`, byte for byte: for every sample, and for every symbology with
 * every value of its options. Both lists are read from the sources, so that new entries are tested, too.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { renderCommand } from '../../src/cli/render.ts';
import { preview } from '../../src/contract/label-picture.ts';
import { type LabelRecord, labelRecord } from '../../src/contract/print-request.ts';
import {
  barcodeElement,
  designedTemplate,
  SYMBOLOGIES,
  type Symbology,
  type SymbologyOption,
} from '../../src/contract/template.ts';
import { SymbolError } from '../../src/render/symbol/bwip.ts';
import { checkOptions, encodeSymbol, symbologyRules } from '../../src/render/symbol/symbol.ts';
import type { SymbolOptions } from '../../src/render/symbol/symbology/rules.ts';
import { kindOf } from '../../web/designer/property-kinds.ts';
import { SYMBOLOGY_FACTS } from '../../web/designer/symbologies.ts';
import { temporaryDirectory } from '../kit/service/platen.ts';
import { useService, useTenant } from '../kit/service/use-service.ts';

const SAMPLES = join(import.meta.dirname, '../../templates');
const service = useService({ redis: false });
useTenant(service);
const stack = new AsyncDisposableStack();
let folder = '';

beforeAll(async () => {
  folder = stack.use(await temporaryDirectory()).path;
});
afterAll(() => stack.disposeAsync());

type Look = { dpi: number; orientation: 'portrait' | 'landscape'; record?: LabelRecord };

/** The label as the designer requests it. */
async function shown(template: object, look: Look): Promise<{ png: Buffer; errors: string[] }> {
  const { body } = await service.admin('POST', '/tenants/acme/templates/preview', { template, ...look });
  const { png, problems } = preview.parse(body);
  const errors = problems.filter(({ severity }) => severity === 'error').map(({ message }) => message);
  return { png: Buffer.from(png ?? '', 'base64'), errors };
}

/** The label as `platen render --to png` draws it. */
async function rendered(template: object, { dpi, orientation, record }: Look): Promise<Buffer> {
  const [file, data, out] = ['template.json', 'records.json', 'label.png'].map((name) => join(folder, name));
  if (file === undefined || data === undefined || out === undefined) throw new Error('three paths');
  await writeFile(file, JSON.stringify(template));
  await writeFile(data, JSON.stringify([record]));
  const from = record === undefined ? [] : ['--data', data];
  const look = ['--dpi', String(dpi), '--orientation', orientation];
  await renderCommand().parseAsync([file, '--to', 'png', '--out', out, ...look, ...from], { from: 'user' });
  return await readFile(out);
}

const samples = (await readdir(SAMPLES)).filter((name) => !name.endsWith('.records.json'));

describe.each(samples)('%s', (file) => {
  test.each([203, 300, 600])(
    'at %d dpi, upright and lying, with samples and with records',
    async (dpi) => {
      const { sheet: _, ...template } = designedTemplate.parse(
        JSON.parse(await readFile(join(SAMPLES, file), 'utf8')),
      );
      const text = await readFile(join(SAMPLES, file.replace('.json', '.records.json')), 'utf8');
      const [record = {}] = z.array(labelRecord).parse(JSON.parse(text));
      const looks: Look[] = [
        { dpi, orientation: 'portrait' },
        { dpi, orientation: 'landscape', record },
      ];
      for (const look of looks) {
        const { png, errors } = await shown(template, look);
        expect(errors).toEqual([]);
        expect(png.equals(await rendered(template, look)), look.orientation).toBe(true);
      }
    },
    120_000,
  );
});

/** Values for an option that is a number: the least and the most that the contract takes, and some between. */
const NUMBERS = [0, 1, 2, 2.5, 3, 4, 5, 6, 8, 10, 20, 30, 50, 95];
const TEXTS = ['L', 'M', 'Q', 'H', 'R7x43', 'R11x43', 'R17x139'];

/** Every value that an option may have with the symbology's example. */
function valuesOf(symbology: Symbology, option: SymbologyOption): SymbolOptions[] {
  const kind = kindOf('barcode', option);
  const candidates =
    kind.kind === 'choice' ? kind.options : kind.kind === 'flag' ? [true, false] : [...TEXTS, ...NUMBERS];
  return candidates.flatMap((value) => {
    const made = barcodeElement.safeParse({
      ...{ type: 'barcode', x: 0, y: 0, symbology, value: 'x' },
      [option]: value,
    });
    if (!made.success) return [];
    const options: SymbolOptions = { [option]: made.data[option] };
    try {
      checkOptions(symbology, options);
      encodeSymbol(symbology, SYMBOLOGY_FACTS[symbology].example, options);
      return [options];
    } catch (error) {
      if (error instanceof SymbolError) return [];
      throw error;
    }
  });
}

/** mm: the height of a row; there is one for each way to draw the symbol. */
const ROW = 45;

describe.each(SYMBOLOGIES)('%s', (symbology) => {
  const { kind, example } = SYMBOLOGY_FACTS[symbology];
  const { options } = symbologyRules(symbology);
  const bars = kind === 'bars';
  const ways: object[] = [
    {},
    { rotation: 90 },
    { rotation: 180, moduleDots: 3 },
    { rotation: 270, render: 'graphic' },
    ...(kind === 'fixed' ? [] : [{ module: 0.5 }]),
    ...(bars ? [{ hri: 'below' }, { hri: 'above', align: 'center', width: 110 }] : []),
    ...options.flatMap((option) => valuesOf(symbology, option)),
  ];
  const fitting = ways.filter((way) => kind !== 'fixed' || !('moduleDots' in way));
  const template = {
    name: symbology,
    width: 240,
    // Below the last row there is room for a symbol that stands upright.
    height: ROW * fitting.length + 160,
    elements: fitting.map((way, row) => ({
      ...{ type: 'barcode', symbology, value: example, x: 2, y: row * ROW + 1 },
      ...(bars && { height: 8 }),
      ...way,
    })),
  };

  test('each of its options has a value that is drawn', () => {
    for (const option of options) expect(valuesOf(symbology, option).length, option).toBeGreaterThan(0);
  });

  test('is shown as it is rendered, with each value of its options', async () => {
    const look: Look = { dpi: 203, orientation: 'portrait' };
    const { png, errors } = await shown(template, look);
    expect(errors).toEqual([]);
    expect(png.equals(await rendered(template, look))).toBe(true);
  }, 120_000);
});
