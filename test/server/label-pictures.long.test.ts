/** Pictures of labels at the service: the dots of the printer, of a job's labels and of a template with any record. */
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createCanvas, loadImage } from '@napi-rs/canvas';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openEncoder } from '../../drivers/languages/index.ts';
import { jobRecords } from '../../src/contract/job-details.ts';
import { type Preview, preview } from '../../src/contract/label-picture.ts';
import { type LabelRecord, labelRecord, type Orientation } from '../../src/contract/print-request.ts';
import { type DesignedTemplate, type Template, template } from '../../src/contract/template.ts';
import { mapFiles } from '../../src/contract/template-files.ts';
import {
  codeOf,
  countingTemplate,
  FORMAT_300,
  PRINTER,
  pointersOf,
  TEMPLATE,
} from '../kit/service/harness.ts';
import { useService, useTenant } from '../kit/service/use-service.ts';

const SAMPLES = join(import.meta.dirname, '..', '..', 'templates');
const service = useService({ redis: false });
const acme = useTenant(service);

async function previewed(body: object): Promise<Preview> {
  return preview.parse((await service.admin('POST', '/tenants/acme/templates/preview', body)).body);
}

/** As `platen render --to png` makes it. */
async function rendered(
  of: Template,
  records: LabelRecord[],
  target: { dpi: number; orientation?: Orientation; copies?: number; createdAt?: string; label?: number },
): Promise<Buffer> {
  const { dpi, orientation = 'portrait', copies = 1, label = 0 } = target;
  const { width = 101.6, height = 152.4 } = of;
  const encoder = await openEncoder({
    v: 1,
    jobId: '0198c5c1-6b1e-7c3a-9d54-0a1b2c3d4e5f',
    tenantId: 'none',
    scope: null,
    printerId: PRINTER,
    templateId: 'none',
    template: of,
    format: { id: 'none', name: 'none', language: 'png', dpi, width, height },
    orientation,
    copies,
    records,
    createdAt: target.createdAt ?? new Date().toISOString(),
  });
  const index = Math.floor(label / copies);
  return Buffer.from(await encoder.label(index, 1, label - index * copies));
}

/** A template with a font, and the same picture by its name and in an element. */
function withFiles() {
  const canvas = createCanvas(90, 60);
  const context = canvas.getContext('2d');
  const dots = context.createImageData(90, 60);
  for (let at = 0, seed = 1; at < dots.data.length; at += 1) {
    seed = (seed * 48_271) % 2_147_483_647;
    dots.data[at] = at % 4 === 3 ? 255 : seed % 256;
  }
  context.putImageData(dots, 0, 0);
  const data = canvas.toBuffer('image/png').toString('base64');
  const font = createRequire(import.meta.url).resolve(
    '@expo-google-fonts/noto-sans-thai/400Regular/NotoSansThai_400Regular.ttf',
  );
  const image = { type: 'image', x: 2, width: 30, height: 20 };
  return {
    name: 'With files',
    width: 60,
    height: 60,
    fonts: [{ name: 'own', data: readFileSync(font, 'base64') }],
    images: [{ name: 'noise', data }],
    elements: [
      { ...image, y: 2, image: 'noise', halftone: 'dither' },
      { ...image, y: 25, data, halftone: 'threshold' },
      { type: 'text', x: 2, y: 48, width: 50, height: 9, text: 'กรุงเทพ', size: 7, font: 'own' },
    ],
  };
}

function withoutSheet(of: Template): Template {
  if (of.language !== 'platen') return of;
  const { sheet: _, ...label } = of;
  return label satisfies DesignedTemplate;
}

describe('a template with a record', async () => {
  const files = (await readdir(SAMPLES)).filter((name) => !name.endsWith('.records.json'));
  test.each(files)(
    '%s: the dots are those of the renderer, at every resolution',
    async (file) => {
      const of = withoutSheet(template.parse(JSON.parse(await readFile(join(SAMPLES, file), 'utf8'))));
      const text = await readFile(join(SAMPLES, file.replace('.json', '.records.json')), 'utf8');
      const [record = {}] = z.array(labelRecord).parse(JSON.parse(text));
      for (const dpi of [203, 300]) {
        for (const orientation of ['portrait', 'landscape'] as const) {
          const made = await previewed({ template: of, record, dpi, orientation });
          const png = Buffer.from(made.png ?? '', 'base64');
          expect(
            png.equals(await rendered(of, [record], { dpi, orientation })),
            `${dpi} ${orientation}`,
          ).toBe(true);
          expect(made.boxes.length).toBeGreaterThan(0);
        }
      }
    },
    60_000,
  );

  test('says what is wrong beside the element, and draws the others', async () => {
    const elements = [
      { type: 'text', x: 4, y: 4, text: 'above', size: 6 },
      { type: 'barcode', symbology: 'ean13', value: '{{ean}}', x: 4, y: 20, height: 10 },
      { type: 'box', x: 90, y: 140, width: 30, height: 5, thickness: 1 },
    ];
    const body = { ...TEMPLATE, fields: [{ name: 'ean' }], elements };
    const made = await previewed({ template: body, record: { ean: '12x' } });
    expect(made.problems).toMatchObject([
      { code: 'value-invalid', pointer: '/elements/1' },
      { code: 'off-label', pointer: '/elements/2' },
    ]);
    expect(made.boxes.map(({ pointer }) => pointer)).toEqual(['/elements/0', '/elements/2']);
    const others = { ...body, elements: [elements[0], elements[2]] };
    const expected = await rendered(template.parse(others), [{}], { dpi: 203 });
    expect(Buffer.from(made.png ?? '', 'base64').equals(expected)).toBe(true);
    const good = await previewed({ template: body, record: { ean: '4006381333931' } });
    const [, bars] = good.boxes;
    expect(good.problems.map(({ pointer }) => pointer)).toEqual(['/elements/2']);
    expect(bars).toMatchObject({ pointer: '/elements/1', x: expect.closeTo((4 * 203) / 25.4, -2) });
  });

  test('what does not fit is drawn all the same, cut off at the edge, and said to be so', async () => {
    const text = { type: 'text', x: 4, y: 4, width: 40, height: 8, size: 6, text: 'Words '.repeat(99) };
    const bars = { type: 'barcode', symbology: 'code128', x: 4, y: 20, height: 10, hri: 'below' };
    const elements = [
      text,
      { ...text, x: 99, y: 4, width: undefined, text: 'Over the edge' },
      { ...bars, value: 'A'.repeat(60) },
      { ...bars, y: 40, value: 'much', width: 8 },
      { ...bars, y: 60, value: 'A'.repeat(40), moduleDots: 1 },
      { type: 'barcode', symbology: 'qr', x: 90, y: 80, value: 'https://example.com', module: 1 },
      { ...bars, y: 120, value: 'good' },
    ];
    for (const orientation of ['portrait', 'landscape'] as const) {
      const made = await previewed({ template: { ...TEMPLATE, fields: [], elements }, orientation });
      const faults = made.problems.filter(({ severity }) => severity === 'error');
      expect(faults.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual(
        [0, 1, 2, 3, 5].map((at) => `does-not-fit /elements/${at}`),
      );
      expect(made.boxes.map(({ refused = false }) => refused)).toEqual([
        ...[true, true, true, true, false, true, false],
      ]);
      expect(made.boxes.every(({ width, height }) => width > 0 && height > 0)).toBe(true);
      expect(made.boxes.filter(({ refused, printer }) => refused && printer !== undefined)).toEqual([]);
    }
  });

  test('a saved one, with the samples of its fields; and a raw one', async () => {
    const templateId = await service.template('acme', {
      ...TEMPLATE,
      name: 'Sampled',
      fields: [{ name: 'sku', sample: 'S-1' }, { name: 'name' }],
    });
    const made = await previewed({ templateId, width: 200 });
    const small = await loadImage(Buffer.from(made.png ?? '', 'base64'));
    expect([small.width, small.height]).toEqual([200, Math.round((200 * made.height) / made.width)]);
    expect([made.width, made.height]).toEqual([812, 1218]);
    const raw = {
      name: 'Raw',
      language: 'zpl',
      source: '^XA^FO10,10^A0N,30^FD{{sku}}^FS^XZ',
      width: 50,
      height: 25,
    };
    const zpl = await previewed({ template: raw, record: { sku: 'A' } });
    const expected = await rendered(template.parse(raw), [{ sku: 'A' }], { dpi: 203 });
    expect(Buffer.from(zpl.png ?? '', 'base64').equals(expected)).toBe(true);
  });

  test('its files go by the names that the service gave to them, in its tenant alone', async () => {
    await service.admin('POST', '/tenants', { id: 'files-other', name: 'Other' });
    const template = withFiles();
    const whole = await previewed({ template });
    expect(Object.keys(whole.files).sort()).toEqual(['/elements/1/data', '/fonts/0/data', '/images/0/data']);
    const named = mapFiles(template, (_, pointer) => whole.files[pointer] ?? '');
    // Twice: the second time all is decoded already.
    for (let at = 0; at < 2; at += 1) {
      const again = await previewed({ template: named });
      expect(again.png === whole.png, 'the same dots').toBe(true);
      expect(again).toMatchObject({ boxes: whole.boxes, problems: whole.problems });
      expect(again.files).toEqual({});
    }
    const others = '/tenants/files-other/templates/preview';
    const unknown = mapFiles(template, () => `sha256:${'0'.repeat(64)}`);
    const answers = [
      await service.admin('POST', others, { template: named }),
      await service.admin('POST', others, { template: unknown }),
      await service.admin('POST', '/tenants/acme/templates/preview', { template: unknown }),
    ].map(({ status, body }) => ({
      status,
      ...z.looseObject({ requestId: z.string() }).parse(body),
      requestId: '',
    }));
    expect(answers[0]).toMatchObject({
      status: 409,
      code: 'file-unknown',
      detail: '/images/0/data names a file that is not kept: send the file itself',
    });
    expect(answers.slice(1)).toEqual([answers[0], answers[0]]);
    // Nothing but a picture goes by such a name.
    const saved = await service.admin('POST', '/tenants/acme/templates', named);
    expect(codeOf(saved)).toBe('payload-invalid');
  });

  test.each([
    [{}, 'payload-invalid'],
    [{ template: TEMPLATE, templateId: 'x' }, 'payload-invalid'],
    [{ templateId: 'x' }, 'template-not-found'],
    [{ template: { ...TEMPLATE, elements: [{ type: 'spiral' }] } }, 'payload-invalid'],
    [{ template: TEMPLATE, dpi: 9_999 }, 'payload-invalid'],
    [{ template: TEMPLATE, record: { sku: {} } }, 'payload-invalid'],
  ])('%j is refused: %s', async (body, code) => {
    expect(codeOf(await service.admin('POST', '/tenants/acme/templates/preview', body))).toBe(code);
  });
});

describe("a job's labels", () => {
  const COUNTING = countingTemplate('{{sku}} {{$record}}/{{$records}} {{$copy}} {{$label}} {{$now}}');
  const data = [{ sku: 'A' }, { sku: 'B\0' }, { sku: '^XZ' }];

  async function newJob(): Promise<{ id: string; createdAt: string }> {
    const idT = await service.template('acme', COUNTING);
    const id = await acme.newJob({ idT, format: FORMAT_300.id, data, numberCopies: 3 });
    const { createdAt } = z
      .object({ createdAt: z.string() })
      .parse((await service.admin('GET', `/jobs/${id}`)).body);
    return { id, createdAt };
  }

  test('are drawn as they are printed: each with its own numbers, at the dpi of the format', async () => {
    const { id, createdAt } = await newJob();
    const drawn: string[] = [];
    for (const label of [0, 2, 3, 8]) {
      const png = await service.picture(`/jobs/${id}/labels/${label}.png`);
      const expected = await rendered(template.parse(COUNTING), data, {
        dpi: 300,
        copies: 3,
        createdAt,
        label,
      });
      expect(png.equals(expected), `label ${label}`).toBe(true);
      drawn.push(png.toString('base64'));
    }
    expect(new Set(drawn).size).toBe(4);
    const small = await loadImage(await service.picture(`/jobs/${id}/labels/0.png?width=120`));
    expect([small.width, small.height]).toEqual([120, 180]);
  });

  test('one that it does not have, and one whose data is gone', async () => {
    const { id } = await newJob();
    expect(codeOf(await service.admin('GET', `/jobs/${id}/labels/9.png`))).toBe('label-not-found');
    expect(codeOf(await service.admin('GET', `/jobs/${id}/labels/-1.png`))).toBe('not-found');
    expect(codeOf(await service.admin('GET', `/jobs/${id}/labels/0.png?width=5`))).toBe('payload-invalid');
    await service.pool.query('UPDATE platen.jobs SET payload = NULL WHERE id = $1', [id]);
    const answer = await service.admin('GET', `/jobs/${id}/labels/0.png`);
    expect([answer.status, codeOf(answer)]).toEqual([404, 'label-data-gone']);
  });
});

describe('a document', () => {
  const CARRIER = {
    name: 'Carrier',
    language: 'document',
    fields: [{ name: 'document' }],
    page: { region: { x: 5, y: 5, width: 90, height: 140 } },
  };
  /** A letter page with noise on it, so that its base64 is longer than any other value may be. */
  const page = (() => {
    const canvas = createCanvas(1_200, 1_600);
    const context = canvas.getContext('2d');
    context.fillStyle = 'white';
    context.fillRect(0, 0, 1_200, 1_600);
    const noise = context.createImageData(600, 900);
    for (let at = 0, seed = 1; at < noise.data.length; at += 4) {
      seed = (seed * 48_271) % 2_147_483_647;
      noise.data.set(seed % 2 === 0 ? [0, 0, 0, 255] : [255, 255, 255, 255], at);
    }
    context.putImageData(noise, 60, 60);
    return canvas.toBuffer('image/png');
  })();
  const document = page.toString('base64');

  test('is printed as its job’s picture shows it, from the file in the request', async () => {
    expect(document.length).toBeGreaterThan(100_000);
    const idT = await service.template('acme', CARRIER);
    const data = [{ document }, { document, order: 'O-4711' }];
    expect((await acme.validate({ idT, data })).body).toMatchObject({
      valid: true,
      labels: 2,
      warnings: [{ code: 'field-unknown', field: 'order', record: 1 }],
    });
    const id = await acme.newJob({ idT, data });
    const png = await service.picture(`/jobs/${id}/labels/1.png`);
    const expected = await rendered(template.parse(CARRIER), [{ document }], { dpi: 203 });
    expect(png.equals(expected)).toBe(true);
    const { records } = jobRecords.parse((await service.admin('GET', `/jobs/${id}/records`)).body);
    expect(records).toEqual([
      { document: `${document.slice(0, 40)}…` },
      { document: `${document.slice(0, 40)}…`, order: 'O-4711' },
    ]);
    const made = await previewed({ templateId: idT, record: { document } });
    expect(Buffer.from(made.png ?? '', 'base64').equals(expected)).toBe(true);
  });

  /** All black. */
  const square = (side: number) => {
    const canvas = createCanvas(side, side);
    canvas.getContext('2d').fillRect(0, 0, side, side);
    return canvas.toBuffer('image/png').toString('base64');
  };

  test.each([
    ['broken', { document: square(100).slice(0, 100) }, 'picture-cut-off'],
    ['not there', {}, 'document-none'],
    ['no base64', { document: 'no document' }, 'document-base64'],
    ['larger than its label', { document: square(900) }, 'document-unfit'],
  ])('that is %s is refused with its field', async (_, record, reason) => {
    const idT = await service.template('acme', { ...CARRIER, name: 'Carrier, whole page', page: {} });
    for (const answer of [
      await acme.validate({ idT, data: [record] }),
      await acme.enqueue({ idT, data: [record] }),
    ]) {
      expect(answer).toMatchObject({
        status: 400,
        body: {
          code: 'data-unprintable',
          errors: [{ pointer: '/data/0/document', reason: { code: reason } }],
        },
      });
    }
    const made = await previewed({ templateId: idT, record });
    expect(made).toMatchObject({ png: null, problems: [{ severity: 'error', reason: { code: reason } }] });
  });

  test('is longer than any other value may be', async () => {
    const idT = await service.template('acme', { ...CARRIER, name: 'Carrier, one field' });
    for (const [template, record, field] of [
      [acme.idT, { sku: document }, 'sku'],
      [idT, { document, 'or/der': document }, 'or~1der'],
    ] as const) {
      const data = [{}, record];
      for (const answer of [
        await acme.validate({ idT: template, data }),
        await acme.enqueue({ idT: template, data }),
      ]) {
        expect([codeOf(answer), pointersOf(answer)]).toEqual(['payload-invalid', [`/data/1/${field}`]]);
      }
    }
    const preview = { templateId: acme.idT, record: { sku: document } };
    const answer = await service.admin('POST', '/tenants/acme/templates/preview', preview);
    expect([codeOf(answer), pointersOf(answer)]).toEqual(['payload-invalid', ['/record/sku']]);
  });

  test.each([
    ['no field', { fields: [] }, '/fields'],
    ['three fields', { fields: ['a', 'b', 'c'].map((name) => ({ name })) }, '/fields'],
    ['a field twice', { fields: [{ name: 'a' }, { name: 'a' }] }, '/fields'],
    ['a region that is none', { page: { region: 'all' } }, '/page/region'],
    ['a turn that is none', { page: { turn: 45 } }, '/page/turn'],
    ['a fit that is none', { page: { fit: 'stretch' } }, '/page/fit'],
    ['elements', { elements: [] }, '/elements'],
  ])('as a template with %s is refused', async (_, more, pointer) => {
    const answer = await service.admin('POST', '/tenants/acme/templates', { ...CARRIER, ...more });
    expect([codeOf(answer), pointersOf(answer)]).toEqual(['payload-invalid', [pointer]]);
  });
});
