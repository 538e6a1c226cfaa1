/** TSPL and EPL2: what is sent besides dots, and that dots stay dots, whatever a record holds. */
import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openEncoder } from '../../drivers/languages/index.ts';
import { type InkBlock, inkBlocks } from '../../drivers/languages/ink-blocks.ts';
import { formatConfig } from '../../src/agent/printer-config.ts';
import { JobFaultError } from '../../src/contract/fault.ts';
import type { PrinterFormat } from '../../src/contract/format.ts';
import type { LabelRecord } from '../../src/contract/print-request.ts';
import { type QueuedJob, queuedJob } from '../../src/contract/queued-job.ts';
import {
  type Bitmap,
  blackenRect,
  createBitmap,
  cropBitmap,
  isBlack,
} from '../../src/render/image/bitmap.ts';
import { encodePng } from '../../src/render/image/png-encoder.ts';
import { compileLabel } from '../../src/render/label-layout.ts';
import { rasterBitmap } from '../../src/render/output/raster.ts';
import { design, differingDots, inkBox, jobFor } from '../kit/judges/judges.ts';
import { type PrintedLabel, readEpl, readTspl } from '../kit/judges/label-printers.ts';
import { wholeJob } from '../kit/judges/printed.ts';

type Language = 'tspl' | 'epl';

function jobOn(
  elements: readonly object[],
  records: readonly LabelRecord[],
  language: Language,
  settings: Partial<PrinterFormat> = {},
): QueuedJob {
  const job = jobFor(design(50, 25, elements), records, { language });
  return queuedJob.parse({ ...job, format: { ...job.format, width: 50, height: 25, ...settings } });
}

async function sent(job: QueuedJob): Promise<Buffer> {
  return wholeJob(job, await openEncoder(job));
}

async function read(job: QueuedJob): Promise<PrintedLabel[]> {
  const bytes = await sent(job);
  return job.format.language === 'tspl' ? readTspl(bytes, job.format.dpi) : readEpl(bytes, 200);
}

const BOX = { type: 'box', x: 5, y: 5, width: 10, height: 5, filled: true };

describe('settings', () => {
  const TSPL_ALWAYS = ['DIRECTION 0,0', 'REFERENCE 0,0'];

  test.each<[Partial<PrinterFormat>, string[], string[]]>([
    [{}, [], []],
    [{ darkness: 8 }, ['DENSITY 8'], ['D8']],
    [{ speed: 6 }, ['SPEED 6'], ['S6']],
    [{ mediaTracking: 'gap' }, ['GAP 3 mm,0 mm'], ['Q200,24']],
    [{ mediaTracking: 'mark' }, ['BLINE 3 mm,0 mm'], ['Q200,B24']],
    [{ mediaTracking: 'continuous' }, ['GAP 0 mm,0 mm'], ['Q200,0']],
    [{ printMode: 'tear-off' }, ['SET PEEL OFF', 'SET CUTTER OFF', 'SET TEAR ON'], ['O']],
    [{ printMode: 'peel-off' }, ['SET CUTTER OFF', 'SET PEEL ON'], ['OP']],
    [{ printMode: 'cutter' }, ['SET PEEL OFF', 'SET CUTTER 1'], ['OC1']],
    [{ printMode: 'rewind' }, ['SET PEEL OFF', 'SET CUTTER OFF', 'SET TEAR OFF'], []],
    [{ printMode: 'applicator' }, [], []],
    [{ thermalMode: 'direct' }, ['SET RIBBON OFF'], ['OD']],
    [{ thermalMode: 'transfer' }, ['SET RIBBON ON'], ['O']],
    [
      { thermalMode: 'direct', printMode: 'peel-off', speed: 3, darkness: 10 },
      ['SPEED 3', 'DENSITY 10', 'SET RIBBON OFF', 'SET CUTTER OFF', 'SET PEEL ON'],
      ['S3', 'D10', 'OD,P'],
    ],
  ])('%j', async (settings, tspl, epl) => {
    const [first, ...more] = await read(jobOn([BOX], [{}, {}], 'tspl', settings));
    expect(first?.settings).toEqual([...tspl, ...TSPL_ALWAYS]);
    const [other, ...others] = await read(jobOn([BOX], [{}, {}], 'epl', settings));
    expect(other?.settings).toEqual([...epl, 'ZT']);
    // Once a job, not once a label.
    for (const label of [...more, ...others]) expect(label.settings).toEqual([]);
  });

  test.each(['tspl', 'epl'] as const)(
    '%s: the label is moved as the format says, and cut where the media ends',
    async (language) => {
      const at = async (settings: Partial<PrinterFormat>) =>
        inkBox((await read(jobOn([BOX], [{}], language, settings)))[0]?.bitmap ?? createBitmap(0, 0));
      expect(await at({})).toEqual({ left: 40, top: 40, right: 120, bottom: 80 });
      expect(await at({ labelTop: 30, labelShift: -100 })).toEqual({
        left: 140,
        top: 70,
        right: 220,
        bottom: 110,
      });
      expect(await at({ labelTop: -60, labelShift: 100 })).toEqual({
        left: 0,
        top: 0,
        right: 20,
        bottom: 20,
      });
      expect(await at({ labelTop: 120, labelShift: -9_999 })).toEqual(inkBox(createBitmap(400, 200)));
    },
  );

  test.each(['tspl', 'epl'] as const)(
    '%s: on continuous media the label is as long as the template says, elsewhere as the media',
    async (language) => {
      const height = async (mediaTracking: PrinterFormat['mediaTracking']) =>
        (await read(jobOn([BOX], [{}], language, { height: 60, mediaTracking })))[0]?.bitmap.height;
      expect(await height('continuous')).toBe(200);
      expect(await height('gap')).toBe(480);
    },
  );

  test.each(['tspl', 'epl'] as const)('%s has 16 steps of darkness', (language) => {
    const entry = { language, dpi: 203, width: 50, height: 25 };
    expect(formatConfig.safeParse({ ...entry, darkness: 15 }).success).toBe(true);
    const refused = formatConfig.safeParse({ ...entry, darkness: 16 });
    expect(refused.error?.issues).toMatchObject([
      { path: ['darkness'], message: expect.stringContaining('0 to 15') },
    ]);
    expect(formatConfig.safeParse({ ...entry, darkness: 1.5 }).success).toBe(false);
    expect(formatConfig.safeParse({ ...entry, language: 'zpl', darkness: 16 }).success).toBe(true);
  });
});

test('the reader of TSPL reads what LPrint writes', async () => {
  // LPrint 1.3.1, driver tspl_203dpi, on 4 × 6 in media, of our PWG raster (sgray_8) of this label. Debian 12 has only
  // 1.1, without TSPL; what that writes of EPL2 is read in `lprint.long.test.ts`.
  const written = await readFile(new URL('fixtures/lprint-1.3.1-tspl.prn', import.meta.url));
  const source = design(50, 25, [
    { type: 'barcode', symbology: 'qr', value: 'through LPrint', x: 5, y: 3, module: 0.5 },
    { type: 'box', x: 1, y: 1, width: 48, height: 23, thickness: 0.25 },
    { type: 'box', x: 30, y: 8, width: 10, height: 5, filled: true },
  ]);
  const own = rasterBitmap((await compileLabel(source, { dpi: 203, orientation: 'portrait' })).layout({}));
  const [label, ...more] = readTspl(written, 203);
  expect(more).toEqual([]);
  expect(label).toMatchObject({ copies: 1, settings: ['DIRECTION 0,0', 'GAP 3 mm,0 mm', 'DENSITY 8'] });
  expect(label && differingDots(cropBitmap(label.bitmap, 0, 0, own.width, own.height), own)).toBe(0);
});

/** The blocks put together again. */
function drawn(blocks: readonly InkBlock[], { width, height }: Bitmap): Bitmap {
  const bitmap = createBitmap(width, height);
  for (const { x, y, stride, height: rows, data } of blocks) {
    for (let row = 0; row < rows; row++) {
      for (let dot = 0; dot < stride * 8; dot++) {
        const byte = data[row * stride + (dot >> 3)] ?? 0xff;
        if ((byte & (0x80 >> (dot & 7))) === 0) blackenRect(bitmap, x + dot, y + row, 1, 1);
      }
    }
  }
  return bitmap;
}

const bitmaps = fc
  .record({
    width: fc.integer({ min: 1, max: 120 }),
    height: fc.integer({ min: 1, max: 90 }),
    boxes: fc.array(
      fc.record({
        x: fc.integer({ min: 0, max: 119 }),
        y: fc.integer({ min: 0, max: 89 }),
        width: fc.integer({ min: 1, max: 120 }),
        height: fc.integer({ min: 1, max: 40 }),
      }),
      { maxLength: 12 },
    ),
  })
  .map(({ width, height, boxes }) => {
    const bitmap = createBitmap(width, height);
    for (const box of boxes) blackenRect(bitmap, box.x, box.y, box.width, box.height);
    return bitmap;
  });

describe('blocks of ink', () => {
  test('hold every dot, and are not more than the whole', () => {
    fc.assert(
      fc.property(bitmaps, fc.integer({ min: 1, max: 40 }), (bitmap, overhead) => {
        const blocks = inkBlocks(bitmap, overhead);
        expect(differingDots(drawn(blocks, bitmap), bitmap)).toBe(0);
        const bytes = blocks.reduce((sum, { data }) => sum + data.length + overhead, 0);
        expect(bytes).toBeLessThanOrEqual(bitmap.data.length + overhead);
        expect(blocks.length === 0).toBe(bitmap.data.every((byte) => byte === 0));
      }),
    );
  });

  test('never have the two bytes one after the other, whatever the picture', () => {
    const nasty = fc
      .tuple(
        fc.integer({ min: 1, max: 9 }),
        fc.array(fc.constantFrom(0x1b, 0x21, 0x1b, 0x21, 0x00, 0x3f), { minLength: 1, maxLength: 120 }),
      )
      .map(([stride, bytes]): Bitmap => {
        const height = Math.ceil(bytes.length / stride);
        const data = new Uint8Array(stride * height);
        bytes.forEach((byte, at) => {
          data[at] = ~byte;
        });
        return { width: stride * 8, height, stride, data };
      });
    fc.assert(
      fc.property(nasty, (bitmap) => {
        const blocks = inkBlocks(bitmap, 30, [0x1b, 0x21]);
        expect(differingDots(drawn(blocks, bitmap), bitmap)).toBe(0);
        for (const { data } of blocks) expect(Buffer.from(data).includes('\x1b!')).toBe(false);
      }),
    );
  });

  test('a frame does not make the paper in it ink', () => {
    const bitmap = createBitmap(800, 1200);
    for (const [x, y, width, height] of [
      [0, 0, 800, 4],
      [0, 1196, 800, 4],
      [0, 0, 4, 1200],
      [796, 0, 4, 1200],
      [300, 500, 80, 80],
    ] as const) {
      blackenRect(bitmap, x, y, width, height);
    }
    expect(isBlack(bitmap, 799, 1199)).toBe(true);
    const bytes = inkBlocks(bitmap, 30).reduce((sum, { data }) => sum + data.length, 0);
    expect(bytes).toBeLessThan(bitmap.data.length / 20);
  });
});

describe.each(['tspl', 'epl'] as const)('%s: values', (language) => {
  const HOSTILE = ['\x1b!R', '\r\nPRINT 9\r\n', '\nP9\nN\n', '^@', '"', 'SET CUTTER 1', '~!T', '\0', '{{v}}'];
  const nasty = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.array(fc.constantFrom(...HOSTILE, 'A', '1', ' '), { maxLength: 5 }).map((parts) => parts.join('')),
  );

  test('whatever they are, one label, and no command but ours', async () => {
    const elements = [
      { type: 'text', x: 2, y: 2, width: 46, height: 6, size: 4, text: 'a {{v}} b', overflow: 'clip' },
      { type: 'barcode', symbology: 'datamatrix', value: '{{v}}', x: 2, y: 10, module: 0.25 },
    ];
    const plain = (await read(jobOn(elements, [{ v: 'x' }], language)))[0];
    await fc.assert(
      fc.asyncProperty(nasty, async (v) => {
        try {
          const labels = await read(jobOn(elements, [{ v }], language));
          expect(labels.map(({ copies, settings }) => ({ copies, settings }))).toEqual([
            { copies: 1, settings: plain?.settings },
          ]);
        } catch (error) {
          if (!(error instanceof JobFaultError)) throw error;
          expect(['value-invalid', 'does-not-fit']).toContain(error.fault.code);
        }
      }),
      { numRuns: 60 },
    );
  });

  test.each([
    ['\r\nPRINT 9\r\n\r\nP9\r\n^ee\r\n', true],
    // Carried out wherever it stands, by a TSPL printer.
    ['\x1b!R', language === 'epl'],
  ])('a picture whose dots spell %j is a picture', async (command, sentAsItIs) => {
    const bitmap = createBitmap(160, 40);
    const text = Buffer.alloc(bitmap.data.length, command, 'latin1');
    // What goes out is turned over.
    bitmap.data.set(text.map((byte) => ~byte));
    const data = Buffer.from(encodePng(bitmap, 203)).toString('base64');
    const size = { width: (160 / 203) * 25.4, height: (40 / 203) * 25.4 };
    const job = jobOn([{ type: 'image', x: 0, y: 0, ...size, data }], [{}], language);
    const [label, ...more] = await read(job);
    expect(more).toEqual([]);
    expect(label?.copies).toBe(1);
    expect(label && differingDots(cropBitmap(label.bitmap, 0, 0, 160, 40), bitmap)).toBe(0);
    expect((await sent(job)).includes(command)).toBe(sentAsItIs);
  });
});
