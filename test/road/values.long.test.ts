/**
 * What is posted over HTTP is what is on the label: records in many scripts and hostile values, read back from the
 * virtual printer's pictures by decoders that we did not write, for every symbology that can hold them.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { VirtualZplPrinter } from '../../src/virtual/zpl/zpl-printer.ts';
import { barcodesIn, textIn } from '../kit/judges/pictures.ts';
import { INCONSOLATA, OCR_B } from '../kit/judges/sample-fonts.ts';
import { backends, type OpenBackend } from '../kit/servers/backends.ts';
import { Integrator, PlatenUp } from '../kit/service/platen.ts';
import { useDirectory } from '../kit/service/use-directory.ts';

/** A template of 4 × 6 in. */
const large = (name: string, fields: readonly string[], elements: readonly object[]) => ({
  ...{ name, width: 101.6, height: 152.4, elements },
  fields: fields.map((field) => ({ name: field })),
});

/** One label with the value in each matrix symbology. */
const MATRIX = large(
  'matrix symbols',
  ['value'],
  [
    { type: 'barcode', symbology: 'qr', x: 4, y: 4, value: '{{value}}', module: 0.5 },
    { type: 'barcode', symbology: 'datamatrix', x: 4, y: 100, value: '{{value}}', module: 0.5 },
  ],
);

const LINEAR = large(
  'linear symbols',
  ['value'],
  [
    {
      ...{ type: 'barcode', symbology: 'code128', x: 10, y: 4, height: 20, rotation: 90 },
      ...{ value: '{{value}}', module: 0.25 },
    },
  ],
);

const COMMERCE = large(
  'trade symbols',
  ['ean', 'sscc', 'batch'],
  [
    {
      type: 'barcode',
      symbology: 'ean13',
      x: 4,
      y: 4,
      height: 20,
      value: '{{ean}}',
      module: 0.375,
      hri: 'below',
    },
    {
      type: 'barcode',
      symbology: 'gs1-128',
      x: 4,
      y: 40,
      height: 25,
      value: '(00){{sscc}}',
      module: 0.375,
      hri: 'below',
    },
    {
      type: 'barcode',
      symbology: 'gs1-datamatrix',
      x: 4,
      y: 100,
      value: '(01)09521234543213(10){{batch}}',
      module: 0.75,
    },
  ],
);

const HOSTILE: Record<string, string> = {
  'ZPL commands': '^XZ~JR',
  'a hex escape': '_5E',
  'a status query': '~HS',
  'field separators': '^FS^FD^XA^PQ9',
  'quotes and backslashes': `"double" 'single' \\& \\\\`,
  'Code 128 invocations': '>;>5>6>:>8>0',
  'a placeholder': '{{value}} {{other}}',
  'two lines': 'first line\nsecond line',
  'a tab and a carriage return': 'a\tb\r\nc',
  'spaces at both ends': '  padded  ',
  'HTML and SQL': `<b>&amp;</b>'; DROP TABLE jobs; --`,
};

const SCRIPTS: Record<string, string> = {
  Latin: 'Größe Ærø Łódź',
  Greek: 'Ελληνικά',
  Cyrillic: 'Кириллица',
  Arabic: 'مختبر الدم',
  Hebrew: 'בנק הדם',
  Devanagari: 'हिन्दी लेबल',
  Thai: 'ภาษาไทย',
  Japanese: '検体ラベル',
  Chinese: '血液样本',
  Korean: '혈액 검체',
  emoji: '🩸🧪 ok',
};

const TEXT = large(
  'text',
  ['value'],
  [
    {
      type: 'text',
      x: 5,
      y: 10,
      width: 90,
      height: 130,
      text: '{{value}}',
      size: 7,
      font: 'sans',
      overflow: 'wrap',
    },
  ],
);

const TEXTS = [
  { value: 'Blood bank 42', language: 'eng' },
  { value: 'two lines\nsecond line', language: 'eng' },
  { value: '~HS _5E', language: 'eng' },
  { value: 'salt \\& pepper', language: 'eng' },
  { value: 'Τράπεζα αίτης', language: 'ell' },
  { value: 'Кириллица здесь', language: 'rus' },
  { value: 'مختبر الدم', language: 'ara' },
  { value: 'בנק הדם', language: 'heb' },
  { value: '検体ラベル', language: 'jpn' },
  { value: 'हिन्दी लेबल', language: 'hin' },
  { value: 'ตัวอย่างเลือด', language: 'tha' },
  { value: '병원 검사실', language: 'kor' },
  { value: '有限公司', language: 'chi_sim' },
];

describe.each(backends())('on $name', ({ open, embedded, kind }) => {
  // What a store may do to a value or a font shows in the dots; how each is drawn is tried on one store.
  const drawn = test.runIf(kind === 'redis');
  let backend: OpenBackend | undefined;
  const directory = useDirectory();
  let up: PlatenUp;
  let integrator: Integrator;
  let printed = 0;

  beforeAll(async () => {
    const env: Record<string, string> = {};
    if (!embedded) {
      backend = await open({ migrated: true });
      env['DATABASE_URL'] = backend.databaseUrl ?? '';
      if (backend.redisUrl !== undefined) {
        env['REDIS_URL'] = backend.redisUrl;
        env['PLATEN_QUEUE_PREFIX'] = backend.prefix;
      }
    }
    up = await PlatenUp.start({ dataDir: directory.path, env, args: ['--virtual-speed', '100'] });
    integrator = await Integrator.make(up);
  });
  afterAll(async () => {
    await up?.stop();
    await backend?.close();
  });

  /** Prints the records and returns a picture for each, in their order. */
  async function print(template: unknown, data: Record<string, string>[]): Promise<string[]> {
    const { id } = await up.admin.importTemplate('default', template);
    const jobId = await integrator.post({ idT: id, printer: 'virtual-1', data });
    const job = await up.ended(jobId);
    expect(job).toMatchObject({ status: 'printed', error: null, labels: { printed: data.length } });
    const pictures = (await up.pictures()).slice(printed);
    printed += data.length;
    expect(pictures).toHaveLength(data.length);
    return pictures;
  }

  test('QR and DataMatrix hold every script and every hostile value', async () => {
    const values = Object.values({ ...HOSTILE, ...SCRIPTS });
    const pictures = await print(
      MATRIX,
      values.map((value) => ({ value })),
    );
    for (const [index, picture] of pictures.entries()) {
      const symbols = await barcodesIn(picture);
      expect(symbols, `label ${index + 1}`).toHaveLength(2);
      expect(Object.fromEntries(symbols.map(({ format, text }) => [format, text]))).toEqual({
        QRCode: values[index],
        DataMatrix: values[index],
      });
    }
  });

  drawn('Code 128 holds every hostile value', async () => {
    const values = Object.values(HOSTILE);
    const pictures = await print(
      LINEAR,
      values.map((value) => ({ value })),
    );
    for (const [index, picture] of pictures.entries()) {
      expect(await barcodesIn(picture)).toEqual([{ format: 'Code128', text: values[index] }]);
    }
  });

  drawn('text in every script that tesseract reads without a mistake', async () => {
    const pictures = await print(
      TEXT,
      TEXTS.map(({ value }) => ({ value })),
    );
    for (const [index, { value, language }] of TEXTS.entries()) {
      expect(await textIn(pictures[index] ?? '', language)).toBe(value);
    }
  });

  test("fonts of the tenant's own, each of a template", async () => {
    const branded = (name: string, data: string) => ({
      ...TEXT,
      name,
      fonts: [{ name: 'Brand', data }],
      elements: [{ ...TEXT.elements[0], font: 'Brand' }],
    });
    // One of them has a stroke through its 0.
    const value = '4711 2815 36';
    for (const font of [OCR_B, INCONSOLATA]) {
      const [picture] = await print(branded(`font of ${font.length}`, font.toString('base64')), [{ value }]);
      const text = await textIn(picture ?? '', 'eng', { only: '0123456789' });
      expect(text.replaceAll(/\s/g, '')).toBe(value.replaceAll(' ', ''));
    }
    const woff = Buffer.concat([Buffer.from('wOFF'), OCR_B.subarray(4)]).toString('base64');
    await expect(up.admin.importTemplate('default', branded('no font', woff))).rejects.toThrow(
      '/fonts/0/data: the font "Brand": it is WOFF, a font for browsers: expected TTF or OTF',
    );
  });

  drawn('EAN-13, GS1-128 and GS1 DataMatrix', async () => {
    const [picture] = await print(COMMERCE, [
      { ean: '4006381333931', sscc: '340123450000000017', batch: 'A-1_5E' },
    ]);
    const symbols = await barcodesIn(picture ?? '');
    expect(symbols.map(({ text }) => text).sort()).toEqual(
      ['4006381333931', '00340123450000000017', '010952123454321310A-1_5E'].sort(),
    );
  });
});

describe('a value of 10,000 characters', () => {
  const value = Array.from({ length: 2_500 }, (_, index) => index + 1)
    .join(' ')
    .slice(0, 10_000);
  const media = { dpi: 300, width: 210, height: 297 } as const;
  const directory = useDirectory();
  let printer: VirtualZplPrinter;
  let up: PlatenUp;
  let integrator: Integrator;

  beforeAll(async () => {
    printer = new VirtualZplPrinter({ name: 'A4', outDir: join(directory.path, 'A4'), ...media });
    await printer.start();
    up = await PlatenUp.start({
      dataDir: directory.path,
      args: ['--virtual', '0', '--printer', `socket://127.0.0.1:${printer.port}`],
    });
    await up.printerOnline('A4');
    integrator = await Integrator.make(up);
  });
  afterAll(async () => {
    await up?.stop();
    await printer?.stop();
  });

  test('comes out whole as text', async () => {
    const element = {
      type: 'text',
      x: 5,
      y: 5,
      width: 200,
      height: 287,
      text: '{{value}}',
      size: 3,
      font: 'sans',
      overflow: 'wrap',
    };
    const template = {
      name: 'long text',
      ...media,
      dpi: undefined,
      fields: [{ name: 'value' }],
      elements: [element],
    };
    const { id } = await up.admin.importTemplate('default', template);
    const label = once(printer, 'label');
    const job = await up.ended(await integrator.post({ idT: id, printer: 'A4', data: [{ value }] }));
    expect(job).toMatchObject({ status: 'printed', error: null });
    const [{ file, faults }] = await label;
    expect(faults).toEqual([]);
    // How wide a space is, is for tesseract to guess; the digits are not.
    const text = await textIn(file, 'eng', { dpi: media.dpi, only: '0123456789' });
    expect(text.replaceAll(/\s/g, '')).toBe(value.replaceAll(' ', ''));
  });

  test.each(['qr', 'datamatrix', 'code128'])(
    'does not fit in %s: it is refused at the door, and nothing is printed',
    async (symbology) => {
      const element = {
        type: 'barcode',
        symbology,
        x: 5,
        y: 5,
        height: symbology === 'code128' ? 20 : undefined,
        value: '{{value}}',
      };
      const template = {
        name: `long ${symbology}`,
        ...media,
        dpi: undefined,
        fields: [{ name: 'value' }],
        elements: [element],
      };
      const { id } = await up.admin.importTemplate('default', template);
      const before = printer.odometer;
      const body = { idT: id, printer: 'A4', data: [{ value: 'short' }, { value }] };
      const refused = await integrator.request('/v2/jobs', body, { 'idempotency-key': randomUUID() });
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({
        code: 'data-unprintable',
        errors: [{ pointer: '/data/1/value' }],
      });
      expect(printer.odometer).toBe(before);
    },
  );
});
