import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blackenRect, createBitmap } from '../../src/render/image/bitmap.ts';
import { encodePng } from '../../src/render/image/png-encoder.ts';
import { VirtualZplPrinter } from '../../src/virtual/zpl/zpl-printer.ts';
import { OCR_B } from '../kit/judges/sample-fonts.ts';
import {
  bench,
  Client,
  codesOn,
  decode,
  look,
  qr,
  temporaryDirectory,
} from '../kit/printers/bench-printer.ts';

describe('labels', () => {
  it('prints what was sent, as pictures of the media in order', async () => {
    const { printer, printed } = await bench();
    const client = new Client(printer.port);
    const values = ['one', '{"two"}', 'a~b^c_d', 'Zürich Ωмир'];
    client.send(qr(values[0] ?? ''));
    client.send('^XA^XZ^XA^POI^PON^XZ');
    for (const value of values.slice(1)) {
      const hex = Buffer.from(value).toString('hex').replace(/../g, '_$&');
      client.send(`^XA^CI28^FO40,10^BQN,2,4^FH^FDQA,${hex}^FS^XZ`);
    }
    const labels = await printed(4);
    expect(labels.map((label) => label.number)).toEqual([1, 2, 3, 4]);
    const codes: string[] = [];
    for (const label of labels) codes.push(...(await decode(label.file)));
    expect(codes).toEqual(values);
    expect(await look(labels[0]?.file ?? '')).toMatchObject({ width: 400, height: 200 });
    expect(await readFile(labels[0]?.rawFile ?? '', 'utf8')).toBe(qr('one'));
  });

  it('takes data as raw UTF-8, and under another prefix', async () => {
    const { printer, printed } = await bench();
    const client = new Client(printer.port);
    client.send('^XA^CI28^FO40,20^BQN,2,5^FDQA,Łódź _5E^FS^XZ');
    client.send('^XA^CC//CD;/FO40;20/BQN;2;5/FDQA,a^b_c/FS/CC^^CD,^XZ');
    const codes: string[] = [];
    for (const label of await printed(2)) codes.push(...(await decode(label.file)));
    expect(codes).toEqual(['Łódź _5E', 'a^b_c']);
  });

  it('makes copies with ^PQ, each a label of its own', async () => {
    const { printer, printed, outDir } = await bench();
    new Client(printer.port).send(`${qr('copy', '^PQ3')}${qr('after')}`);
    const labels = await printed(4);
    expect(await codesOn(labels)).toEqual([['copy'], ['copy'], ['copy'], ['after']]);
    expect((await readdir(outDir)).filter((name) => name.endsWith('.png'))).toHaveLength(4);
    expect(printer.odometer).toBe(4);
  });

  it('counts with ^SN, and replicates', async () => {
    const { printer, printed } = await bench();
    new Client(printer.port).send('^XA^FO40,20^BXN,8,200^SN009,1,Y^FS^PQ4,0,2^XZ');
    const labels = await printed(4);
    const codes = await codesOn(labels);
    expect(codes.flat()).toEqual(['009', '009', '010', '010']);
  });

  it('pauses after each group of ^PQ and goes on with ~PS', async () => {
    const { printer, printed, labels } = await bench();
    const client = new Client(printer.port);
    client.send(qr('x', '^PQ3,2'));
    await printed(2);
    const [first, second] = await client.status();
    expect([first?.[2], second?.[8]]).toEqual(['1', '00000001']);
    expect(labels).toHaveLength(2);
    client.send('~PS');
    await printed(3);
  });

  it.each([
    ['as it stands', '', [10, 20, 59, 39]],
    ['turned by ^PO', '^POI', [340, 160, 389, 179]],
    ['mirrored by ^PM', '^PMY', [340, 20, 389, 39]],
    ['turned and mirrored', '^POI^PMY', [10, 160, 59, 179]],
    ['turned within ^PW and ^LL', '^POI^PW200^LL100', [140, 60, 189, 79]],
    ['turned, longer than the media', '^POI^LL220', [340, 180, 389, 199]],
    ['cut by ^PW', '^PW30', [10, 20, 29, 39]],
    ['cut by ^LL', '^LL30', [10, 20, 59, 29]],
    ['moved by ^LS', '^LS-5', [15, 20, 64, 39]],
    ['moved by ^LT', '^LT7', [10, 27, 59, 46]],
    ['moved by ^LH', '^LH3,4', [13, 24, 62, 43]],
    ['measured in mm', '^MUM^FO2,1^GB3,2,1^FS^MUD', [10, 8, 59, 39]],
  ])('%s', async (_, setting, ink) => {
    const { printer, printed } = await bench();
    new Client(printer.port).send(`^XA${setting}^FO10,20^GB50,20,20^FS^XZ`);
    const [label] = await printed(1);
    const picture = await look(label?.file ?? '');
    expect(picture).toMatchObject({ width: 400, height: 200 });
    expect(picture.ink).toEqual(ink);
  });

  it('keeps settings from one format to the next, until they change or the power goes', async () => {
    const { printer, printed } = await bench();
    const client = new Client(printer.port);
    const box = '^FO0,0^GB20,20,20^FS';
    client.send(`^XA^LH30,40^POI^XZ^XA${box}^XZ^XA^PON^LH0,0${box}^XZ^XA^LH50,0^XZ`);
    const inks = [];
    for (const label of await printed(2)) inks.push((await look(label.file)).ink);
    expect(inks).toEqual([
      [350, 140, 369, 159],
      [0, 0, 19, 19],
    ]);
    await printer.powerOff();
    await printer.powerOn();
    new Client(printer.port).send(`^XA${box}^XZ`);
    const [, , last] = await printed(3);
    expect((await look(last?.file ?? '')).ink).toEqual([0, 0, 19, 19]);
  });

  it('takes binary graphics and the fill that its rasteriser gets wrong', async () => {
    const { printer, printed } = await bench();
    const binary = Buffer.alloc(32, '^XZ~');
    const client = new Client(printer.port);
    client.send(Buffer.concat([Buffer.from('^XA^FO8,8^GFB,32,32,2,'), binary, Buffer.from('^FS^XZ')]));
    client.send('^XA^FO8,8^GFA,32,32,2,FFFF!::80,!:::,::^FS^XZ');
    const [first, second] = await printed(2);
    const graphic = await look(first?.file ?? '');
    for (let row = 0; row < 16; row++) {
      for (let bit = 0; bit < 16; bit++) {
        const byte = binary[row * 2 + (bit >> 3)] ?? 0;
        expect(graphic.black(8 + bit, 8 + row)).toBe(((byte << (bit & 7)) & 0x80) !== 0);
      }
    }
    const filled = await look(second?.file ?? '');
    expect([filled.black(23, 9), filled.black(8, 12), filled.black(9, 12), filled.black(23, 13)]).toEqual([
      true,
      true,
      false,
      true,
    ]);
  });
});

describe('stored objects', () => {
  it('prints a stored format with new values, and only stores when there is ^DF', async () => {
    const { printer, printed, labels } = await bench();
    const client = new Client(printer.port);
    client.send('^XA^DFR:TUBE.ZPL^FS^CI28^FO40,20^BQN,2,5^FN1^FS^FO200,20^BQN,2,5^FN2^FDQA,stored^FS^PQ2^XZ');
    client.send('^XA^XFR:TUBE.ZPL^FS^FN1^FH^FDQA,a_5Eb^FS^XZ');
    client.send('^XA^XFTUBE^FS^FN1^FDQA,c^FS^FN2^FDQA,d^FS^PQ1^XZ');
    const codes: string[][] = [];
    for (const label of await printed(3)) codes.push((await decode(label.file)).sort());
    expect(codes).toEqual([
      ['a^b', 'stored'],
      ['a^b', 'stored'],
      ['c', 'd'],
    ]);
    expect(labels.every((label) => label.faults.length === 0)).toBe(true);
  });

  it('forgets DRAM when the power goes, keeps flash, and shows what is missing', async () => {
    const { printer, printed, outDir } = await bench();
    const first = new Client(printer.port);
    first.send('^XA^DFR:A^FS^FO40,20^BQN,2,5^FN1^FS^XZ^XA^DFE:B^FS^FO40,20^BQN,2,5^FN1^FS^XZ');
    await first.status();
    await printer.powerOff();
    await printer.powerOn();
    new Client(printer.port).send('^XA^XFR:A^FS^FN1^FDQA,a^FS^XZ^XA^XFE:B^FS^FN1^FDQA,b^FS^XZ');
    const [missing, kept] = await printed(2);
    expect(missing?.faults).toEqual(['stored format R:A.ZPL does not exist']);
    expect(await readFile(join(outDir, '000001.error.txt'), 'utf8')).toContain('R:A.ZPL');
    expect(await decode(kept?.file ?? '')).toEqual(['b']);
  });

  it('prints downloaded graphics, until they are deleted', async () => {
    const { printer, printed } = await bench();
    const client = new Client(printer.port);
    client.send('~DGR:DOT.GRF,8,1,FFFFFFFFFFFFFFFF^XA^FO16,8^XGR:DOT.GRF,2,1^FS^XZ');
    const [label] = await printed(1);
    expect((await look(label?.file ?? '')).ink).toEqual([16, 8, 31, 15]);
    expect((await client.status())[1]?.[10]).toBe('001');
    client.send('^XA^IDR:*.GRF^FS^XZ^XA^XGR:DOT.GRF^FS^XZ');
    const [, gone] = await printed(2);
    expect(gone?.faults).toEqual(['graphic R:DOT.GRF does not exist']);
    expect((await client.status())[1]?.[10]).toBe('000');
  });

  it('prints pictures and fonts that were downloaded as files, and says what it lacks', async () => {
    const { printer, printed } = await bench();
    const client = new Client(printer.port);
    const black = createBitmap(16, 8);
    blackenRect(black, 0, 0, 16, 8);
    const dot = Buffer.from(encodePng(black, 203));
    client.send(`~DYR:DOT.PNG,P,P,${dot.length},,${dot.toString('hex')}^XA^FO16,8^IMR:DOT.PNG^FS^XZ`);
    const [picture] = await printed(1);
    expect(picture?.faults).toEqual([]);
    expect((await look(picture?.file ?? '')).ink).toEqual([16, 8, 31, 15]);
    client.send(
      `~DUR:OCR.TTF,${OCR_B.length},${OCR_B.toString('hex')}^XA^CWZ,R:OCR.TTF^FO9,9^AZN,40^FDA^FS^XZ`,
    );
    client.send('^XA^FO9,9^AZN,40^FDA^FS^XZ^XA^CWZ,E:ARIAL.TTF^FO9,9^AZN,40^FDA^FS^XZ');
    const [, first, again, lacking] = await printed(4);
    expect([first?.faults, again?.faults]).toEqual([[], []]);
    expect((await look(again?.file ?? '')).ink).toEqual((await look(first?.file ?? '')).ink);
    expect(lacking?.faults).toEqual(['the font E:ARIAL.TTF was not downloaded']);
  });
});

describe('what it says of itself', () => {
  it('answers ~HI, ~HQ and SGD queries', async () => {
    const { printer, printed } = await bench({ serial: 'D4J123456', name: 'Lab 1', model: 'ZD421-203dpi' });
    const client = new Client(printer.port);
    client.send(qr('x', '^PQ2'));
    await printed(2);
    expect(await client.ask('~HI', /\x03\r\n$/)).toBe('\x02ZD421-203dpi,V92.21.39Z,8,8192KB,X\x03\r\n');
    expect(await client.ask('~HQSN', /\x03\r\n$/)).toBe('\x02\r\n  SERIAL NUMBER\r\n  D4J123456\r\n\x03\r\n');
    expect(await client.ask('~HQES', /\x03\r\n$/)).toContain('ERRORS:         0 00000000 00000000');
    expect(await client.getvar('device.unique_id')).toBe('"D4J123456"');
    expect(await client.getvar('device.friendly_name')).toBe('"Lab 1"');
    expect(await client.getvar('head.resolution.in_dpi')).toBe('"203"');
    expect(await client.getvar('ezpl.print_width')).toBe('"400"');
    expect(await client.getvar('odometer.total_label_count')).toBe('"2"');
    expect(await client.getvar('toString')).toBe('"?"');
    expect(await client.getvar('no.such.thing')).toBe('"?"');
  });

  it.each([
    [203, '8', [812, 1218]],
    [300, '12', [1200, 1800]],
    [600, '24', [2400, 3600]],
  ] as const)(
    'is %i dpi to the dot, and says the nominal %s dots a mm',
    async (dpi, dotsPerMm, [width, height]) => {
      const { printer, printed } = await bench({ dpi, width: 101.6, height: 152.4 });
      const client = new Client(printer.port);
      expect(await client.ask('~HI', /\x03\r\n$/)).toContain(`,${dotsPerMm},8192KB`);
      expect(await client.getvar('ezpl.print_width')).toBe(`"${width}"`);
      client.send(`^XA^FO${width - 1},${height - 1}^GB1,1,1^FS^XZ`);
      const [label] = await printed(1);
      expect(await look(label?.file ?? '')).toMatchObject({
        width,
        height,
        ink: [width - 1, height - 1, width - 1, height - 1],
      });
    },
  );

  it('answers ~HS while it is out of media, paused, or behind', async () => {
    const { printer, printed } = await bench();
    const client = new Client(printer.port);
    expect(await client.status()).toEqual([
      ['030', '0', '0', '0200', '000', '0', '0', '0', '000', '0', '0', '0'],
      ['001', '0', '0', '0', '1', '2', '6', '0', '00000000', '1', '000'],
      ['1234', '0'],
    ]);
    printer.set({ 'media-empty': true, 'cover-open': true, 'marker-supply-empty': true, paused: true });
    const download = '~DGR:DOT.GRF,8,1,FFFFFFFFFFFFFFFF';
    client.send(`${qr('a', '^PQ5^LL160')}${qr('b')}${download}${qr('c')}^XA`);
    const [first, second] = await client.status();
    expect(first).toEqual(['030', '1', '1', '0160', '002', '0', '0', '1', '000', '0', '0', '0']);
    expect(second).toEqual(['001', '0', '1', '1', '1', '2', '6', '0', '00000005', '1', '000']);
    expect(await client.ask('~HQES', /\x03\r\n$/)).toContain('ERRORS:         1 00000000 00010007');
    client.send('^XZ');
    printer.set({ 'media-empty': false, 'cover-open': false, 'marker-supply-empty': false, paused: false });
    await printed(7);
    expect((await client.status())[1]?.[8]).toBe('00000000');
  });

  it('says nothing when it cannot answer', async () => {
    const { printer, printed } = await bench({ faults: { silent: true } });
    const client = new Client(printer.port);
    client.send(`~HS~HI! U1 getvar "device.unique_id"\r\n${qr('x')}`);
    await printed(1);
    printer.set({ silent: false });
    expect(await client.ask('~HI', /\r\n$/)).toMatch(/^\x02ZT411/);
  });

  it('serves a second connection while the first prints, each with its own stream', async () => {
    const { printer, printed } = await bench();
    printer.set({ paused: true });
    const [one, two] = [new Client(printer.port), new Client(printer.port)];
    const half = qr('first');
    one.send(half.slice(0, 20));
    expect((await one.status())[0]?.[7]).toBe('1');
    two.send(qr('second'));
    expect((await two.status())[1]?.[8]).toBe('00000001');
    one.send(half.slice(20));
    await one.status();
    printer.set({ paused: false });
    const codes: string[] = [];
    for (const label of await printed(2)) codes.push(...(await decode(label.file)));
    expect(codes).toEqual(['second', 'first']);
  });
});

describe('start and stop', () => {
  it('goes on counting, and keeps its serial number', async () => {
    const outDir = await temporaryDirectory();
    const options = { name: 'p', outDir, dpi: 300, width: 30, height: 20 } as const;
    const serials: string[] = [];
    for (const round of [1, 2]) {
      const printer = new VirtualZplPrinter(options);
      await printer.start();
      serials.push(printer.identity().serial);
      const client = new Client(printer.port);
      client.send('^XA^FO0,0^GB9,9,9^FS^XZ');
      const [label] = await once(printer, 'label');
      expect(label.number).toBe(round);
      expect(await look(label.file)).toMatchObject({ width: 354, height: 236 });
      await printer.stop();
    }
    expect(serials[0]).toBe(serials[1]);
    expect(serials[0]).toMatch(/^VZ[0-9A-F]{10}$/);
  });
});
