/**
 * Every label starts from a known state: whatever was printed on the printer before it, by us or by somebody else, it
 * comes out as on a printer that was just switched on. The printer is the virtual one, which keeps what it is told
 * from label to label as the ZPL II Programming Guide has it.
 */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { openZpl } from '../../drivers/languages/zpl/encode.ts';
import type { PrinterFormat } from '../../src/contract/format.ts';
import { rawZplTemplate, type Template } from '../../src/contract/template.ts';
import { design, dotsOf, inkBox, jobFor } from '../kit/judges/judges.ts';
import { wholeJob } from '../kit/judges/printed.ts';
import { type Bench, bench, Client } from '../kit/printers/bench-printer.ts';

/** What a label of somebody else leaves behind; a dot, so that it is a label. */
const DOT = '^FO0,0^GB1,1,1^FS';
const LEFT = [
  ['upside down', '^POI'],
  ['shifted to the left', '^LS50'],
  ['moved down', '^LT40'],
  ['mirrored', '^PMY'],
  ['reversed', '^LRY'],
  ['with a label home', '^LH60,40'],
  ['in inches', '^MUI'],
  ['turned', '^FWR'],
  ['aligned to the right', '^FWN,1'],
  ['with a font of its own', '^CF0,60,50'],
  ['with wide bars', '^BY5,2,90'],
  ['narrow', '^PW100'],
  ['short', '^LL60'],
  ['in another encoding', '^CI13'],
  ['all of it', '^POI^LS50^LT40^PMY^LRY^LH60,40^FWR^CF0,60,50^BY5,2,90^PW100^LL60^CI13^MUI'],
] as const;

function raw(source: string): Template {
  return rawZplTemplate.parse({ name: 'raw', language: 'zpl', source });
}

const DESIGNED = design(50, 25, [
  { type: 'text', x: 2, y: 2, width: 30, height: 6, size: 5, text: '{{v}} é' },
  { type: 'barcode', symbology: 'code128', x: 2, y: 10, height: 8, value: '{{v}}', moduleDots: 2 },
  { type: 'box', x: 40, y: 2, width: 6, height: 12 },
]);
const PLAIN = raw('^XA^FO20,20^FD{{v}} Text^FS^FO20,60^BC^FD{{v}}^FS^FO300,20^A0,30^FD\\ é^FS^XZ');

async function job(template: Template, records = 1, settings: Partial<PrinterFormat> = {}): Promise<Buffer> {
  const values = Array.from({ length: records }, (_, at) => ({ v: `A${at}` }));
  const made = jobFor(template, values);
  const format = { ...made.format, width: 50, height: 25, ...settings };
  return await wholeJob({ ...made, format }, await openZpl({ ...made, format }));
}

class Site {
  readonly #bench: Bench;
  readonly #client: Client;
  #labels = 0;

  constructor(printer: Bench) {
    this.#bench = printer;
    this.#client = new Client(printer.printer.port);
  }

  /** The pictures of what is printed next. */
  async print(bytes: string | Buffer, labels = 1): Promise<Buffer[]> {
    this.#client.send(bytes);
    this.#labels += labels;
    const out = (await this.#bench.printed(this.#labels)).slice(-labels);
    expect(out.flatMap(({ faults }) => faults)).toEqual([]);
    return await Promise.all(out.map(({ file }) => readFile(file)));
  }
}

async function fresh(bytes: string | Buffer, labels = 1): Promise<Buffer[]> {
  return await new Site(await bench()).print(bytes, labels);
}

test.each([
  ['a designed label', DESIGNED, 1],
  ['a batch of designed labels', DESIGNED, 8],
  ['a raw label', PLAIN, 1],
] as const)('%s comes out the same, whatever was printed before it', async (_, template, records) => {
  const bytes = await job(template, records);
  expect(bytes.includes('^DFR:')).toBe(records > 1);
  const clean = await fresh(bytes, records);
  const site = new Site(await bench());
  for (const [what, left] of records > 1 ? LEFT.slice(-1) : LEFT) {
    await site.print(`^XA${left}${DOT}^XZ`);
    expect(await site.print(bytes, records), what).toEqual(clean);
  }
});

test('the virtual printer does keep it: without the state of the label before, a label comes out otherwise', async () => {
  const label =
    '^XA^FO2,1^GB2,1,1^FS^FO20,20^FDText^FS^FO20,60^BC^FDA0^FS^FO130,20^A0,30^FH\\^FD_\\C3\\A9\\^FS^XZ';
  const clean = await fresh(label);
  for (const [what, left] of LEFT) {
    // The interpreter does not take over what ^FW aligns, nor ^LR's ground; in inches a text is larger than it takes.
    if (['in inches', 'aligned to the right', 'reversed', 'all of it'].includes(what)) continue;
    const site = new Site(await bench());
    await site.print(`^XA${left}${DOT}^XZ`);
    expect(await site.print(label), what).not.toEqual(clean);
  }
});

test("a raw label's own state ends with its job: what somebody else prints next is as on a fresh printer", async () => {
  const other = '^XA^FO20,20^FDText^FS^FO20,60^BC^FDA0^FS^XZ';
  const clean = await fresh(other);
  for (const [what, left] of LEFT) {
    // A label has its own size, as one of ours has.
    if (/\^(?:PW|LL)/.test(left)) continue;
    const site = new Site(await bench());
    await site.print(await job(raw(`^XA${left}${DOT}^XZ`)));
    expect(await site.print(other), what).toEqual(clean);
  }
});

test("the printer's format says where labels lie, designed and raw ones alike", async () => {
  for (const template of [DESIGNED, PLAIN]) {
    const [clean] = await fresh(await job(template));
    const site = new Site(await bench());
    await site.print(`^XA^LS50^LT40${DOT}^XZ`);
    const [moved] = await site.print(await job(template, 1, { labelTop: 24, labelShift: -32 }));
    expect((await inkOf(moved)).map((at, side) => at - (side % 2 === 0 ? 32 : 24))).toEqual(
      await inkOf(clean),
    );
  }
});

/** Left, top, right and bottom of what is black. */
async function inkOf(png: Buffer | undefined): Promise<number[]> {
  const { left, top, right, bottom } = inkBox(await dotsOf(png ?? Buffer.alloc(0)));
  return [left, top, right, bottom];
}
