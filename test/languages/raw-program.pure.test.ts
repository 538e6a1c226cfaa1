/** What stands around a raw label is taken, and what would change a printer for others is not. */
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { openZpl } from '../../drivers/languages/zpl/encode.ts';
import { type RawZplTemplate, rawZplTemplate } from '../../src/contract/template.ts';
import { templateProblems } from '../../src/render/template-check.ts';
import { programText } from '../../src/zpl/raw/encoding.ts';
import { compileRawZpl } from '../../src/zpl/raw/template.ts';
import { dotsOf, drawZpl, jobFor, labelText } from '../kit/judges/judges.ts';
import { wholeJob } from '../kit/judges/printed.ts';
import { bench, Client, look } from '../kit/printers/bench-printer.ts';

function raw(source: string): RawZplTemplate {
  return rawZplTemplate.parse({ name: 'Raw', language: 'zpl', source });
}

function filled(source: string, record: Record<string, string> = {}): string {
  return compileRawZpl(raw(source)).fill(record, 1);
}

function refused(message: RegExp) {
  return expect.objectContaining({
    fault: expect.objectContaining({ code: 'template-invalid', message: expect.stringMatching(message) }),
  });
}

const FIELD = '^FO20,20^A0,30^FD{{v}}^FS';

describe('one label with a prologue is one label', () => {
  const plain = filled(`^XA${FIELD}^XZ`, { v: 'x' });

  test.each([
    ['a comment before and after it', `^FX made by hand^FS^XA${FIELD}^XZ^FX the end`],
    ['a byte order mark', `\ufeff^XA${FIELD}^XZ`],
    ['what ZebraDesigner begins with', `\x10CT~~CD,~CC^~CT~^XA${FIELD}^XZ`],
    ['the prefixes as they are', `CT~~CD,~CC^~CT~^XA${FIELD}^XZ`],
    ["the printer's set-up before it", `~JO~TA000~SD15^XA${FIELD}^XZ`],
    [
      "a format of the printer's set-up",
      `^XA~TA000~JSN^MNW^MTD^MMT^MFN,N^JMA^PR4,4~SD15^JUS^XZ^XA${FIELD}^XZ`,
    ],
    ['a format that begins twice', `^XA^XA${FIELD}^XZ`],
    ['a format after it that prints nothing', `^XA${FIELD}^XZ^XA^MCY^XZ`],
    [
      'a stored format that it recalls',
      '^XA^DFE:A.ZPL^FS^FO20,20^A0,30^FN1^FS^XZ^XA^XFE:A.ZPL^FN1^FD{{v}}^FS^XZ',
    ],
    [
      'settings before the ^XF, which count for what it recalls',
      '^XA^DFE:A.ZPL^FS^FO0,0^FN1^FS^XZ^XA^LH20,20^CF0,30^XFE:A.ZPL^FO99,99^CF0,60^FN1^FD{{v}}^FS^XZ',
    ],
    [
      'a stored format whose last data ends with the label',
      '^XA^DFE:A.ZPL^FS^FO20,20^A0,30^FN1^FS^XZ^XA^XFE:A.ZPL^FN1^FD{{v}}^XZ',
    ],
    ['set-up inside of it', `^XA^MMT^MD3^PR2~SD20${FIELD}^XZ`],
  ])('%s', async (_, source) => {
    const sheet = [600, 200] as const;
    const ours = await dotsOf(await drawZpl(filled(source, { v: 'x' }), ...sheet));
    expect(ours).toEqual(await dotsOf(await drawZpl(plain, ...sheet)));
    expect(filled(source, { v: 'x' })).not.toMatch(/[~]|\^(?:M[DMNT]|PR|JU|DF|XF)/);
  });

  test('settings before the label are its own, in their order', () => {
    expect(filled('^XA^LH0,20^CI28^PW400^XZ^XA^PW679^FO1,1^FDa^FS^XZ')).toBe(
      '^XA^LH0,20^CI28^PW400^PW679^FO1,1^FDa^FS^PQ1^XZ',
    );
    expect(filled('^CI27^XA^FO1,1^FDa^FS^XZ')).toBe('^XA^CI27^FO1,1^FDa^FS^PQ1^XZ');
  });

  test("no other command is sent without the tenant's permission than those that make one label", () => {
    const signs = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'];
    const sent = new Set<string>();
    for (const prefix of ['^', '~']) {
      for (const name of signs.flatMap((first) => signs.map((second) => first + second))) {
        const code = prefix + name;
        let text = '';
        try {
          text = filled(`^XA${code}N,N^FS^FO1,1^GB9,9^FS^XZ`);
        } catch {
          // Refused by name.
        }
        if (text.includes(`${code}N,N`)) sent.add(code);
      }
    }
    const drawing = /^\^(?:A[A-Z0-9]|B[0-9A-Z]|F[A-Z]|G[A-Z]|X[GB]|I[ML])$/;
    expect([...sent].filter((code) => !drawing.test(code)).sort()).toEqual(
      '^CF ^CV ^CW ^LH ^LL ^LR ^LS ^LT ^MU ^PA ^PM ^PO ^PW ^RB ^RF ^TB ^XF'.split(' '),
    );
  });

  test('what is left out is told, with its line and where it belongs', async () => {
    const problems = await templateProblems(raw('^XA\n~SD15\n^PR4^JUS^XZ\n^XA^FO1,1^FDa^FS^XZ'));
    expect(problems.map(({ severity, code, message }) => `${severity} ${code} ${message}`)).toEqual([
      "warning left-out line 2: ~SD is left out: the printer's set-up is for the printer's format to say (darkness)",
      "warning left-out line 3: ^PR is left out: the printer's set-up is for the printer's format to say (speed)",
      "warning left-out line 3: ^JU is left out: the printer's set-up is for the printer's format to say",
    ]);
  });

  test.each([
    ['two labels', '^XA^FO1,1^FDa^FS^XZ\n^XA^FO1,1^FDb^FS^XZ', /line 2: a second label/],
    ['a label in a label', '^XA^FO1,1^FDa^FS\n^XA^FO1,1^FDb^FS^XZ', /line 2: \^XA begins a second label/],
    ['no end', '\n^XA^FO1,1^FDa^FS', /line 2: \^XA without \^XZ/],
    ['a field outside of it', '^XA^FO1,1^FDa^FS^XZ\n^FO1,1', /line 2: \^FO stands outside/],
    ['another language around it', '! U1 setvar "a" "b"\n^XA^FDa^FS^XZ', /line 1: there is text outside/],
    [
      'a stored format that nobody recalls',
      '^XA^DFR:A.ZPL^XZ^XA^XFR:B.ZPL^FN1^FDa^FS^XZ',
      /line 1: \^DF stores/,
    ],
    [
      'a control character that a printer obeys',
      '^XA^FDa^FS\n\x03\x02^FDb^FS^XZ',
      /line 2: the control character 03/,
    ],
    ['other prefixes', '^XA\n^CC!!FDa^XZ', /line 2: \^CC changes .*: write the template with/],
  ])('%s cannot be taken, and its line is told', (_, source, message) => {
    expect(() => compileRawZpl(raw(source))).toThrow(refused(message));
  });
});

test('stored formats that recall more than they are: refused before they take memory', () => {
  const stored = `^XA^DFR:A.ZPL${'^FO1,1^FDx^FS'.repeat(1000)}^XZ`;
  const recalls = `^XA${'^XFR:A.ZPL^FS'.repeat(1000)}^XZ`;
  expect(() => compileRawZpl(raw(stored + recalls))).toThrow(refused(/too long/));
  const long = `^XA^DFR:A.ZPL${'^FN1^FS'.repeat(9000)}^XZ^XA^XFR:A.ZPL^FS^FN1^FD${'x'.repeat(1000)}^FS^XZ`;
  expect(() => compileRawZpl(raw(long))).toThrow(refused(/too long/));
});

test('a file in a code page is read in it', () => {
  const bytes = (text: string) => Buffer.from(text, 'latin1');
  expect(programText(Buffer.from('^XA^FDQté^FS^XZ'))).toBe('^XA^FDQté^FS^XZ');
  expect(programText(bytes('^XA^FDQt\x82^FS^XZ'))).toBe('^XA^FDQté^FS^XZ');
  expect(programText(bytes('^XA^CI27^FDQt\xe9^FS^XZ'))).toBe('^XA^CI27^FDQté^FS^XZ');
  // Binary data is no text in any of them.
  const graphic = '^GFB,4,4,2,\xff\x00\xe9^';
  expect(programText(bytes(`^XA${graphic}^FS^XZ`))).toBe('^XA^GFA,4,4,2,FF00E95E^FS^XZ');
  expect(programText(Buffer.concat([Buffer.from('^XA^FDé^FS'), bytes(`${graphic}^FS^XZ`)]))).toBe(
    '^XA^FDé^FS^GFA,4,4,2,FF00E95E^FS^XZ',
  );
  expect(programText(bytes('^XA^CI28^FDQt\xe9^FS^XZ'))).toBeUndefined();
});

describe('what would change the printer for all that use it is refused by name', () => {
  const COMMANDS = [
    ...[
      '^PP',
      '^JUS',
      '^JUF',
      '^JUN',
      '^NS1,1',
      '^ND2,A',
      '^NC1',
      '^KP1234',
      '^IDE:*.*',
      '^IDR:X.GRF',
      '^EF',
      '^EG',
    ],
    ...[
      '^SZ1',
      '^ST01,01,26',
      '^JBE',
      '^TOE:A.GRF,R:A.GRF',
      '^ISR:A.GRF,N',
      '^JMB',
      '^MPE',
      '^SLS',
      '^SE',
      '^MCN',
    ],
    ...['^CW0,E:A.TTF', '^FLE:A,E:B,1', '^COY,1', '^PH', '^KNA', '^ZZ', '^QQ', '^JJ0', '^RS8'],
  ];

  test.each(COMMANDS)('%s', async (command) => {
    const source = `^XA\n^FO1,1^FDa^FS\n${command}^FS^XZ`;
    expect(() => compileRawZpl(raw(source))).toThrow(
      refused(new RegExp(`line 3: \\${command.slice(0, 3)}.*(?:administrator)`)),
    );
    const [problem] = await templateProblems(raw(source));
    expect(problem).toMatchObject({ severity: 'error', code: 'template-invalid' });
    // Where an administrator allows it, it is sent as it stands; here, and in a job that says so.
    expect(compileRawZpl(raw(source), undefined, { printerCommands: true }).fill({}, 1)).toContain(command);
    const job = jobFor(raw(source), [{}]);
    await expect(openZpl(job)).rejects.toMatchObject({ fault: { code: 'template-invalid' } });
    expect(await labelText(await openZpl({ ...job, printerCommands: true }))).toContain(command);
  });

  test.each(['~DGE:A.GRF,1,1,80', '~DYB:A.GRF,A,G,1,1,80', '~DUE:A.TTF,1,80'])('%s', (download) => {
    const source = `${download}^XA^FO1,1^XGE:A.GRF^FS^XZ`;
    expect(() => compileRawZpl(raw(source))).toThrow(refused(/line 1: ~D. stores .* for all that use/));
    const allowed = compileRawZpl(raw(source), undefined, { printerCommands: true });
    expect([allowed.downloads, allowed.deletions]).toEqual([download, '']);
  });

  test.each(['~JR', '~JA', '~PP', '~JB', '~HS', '~JX', '~WC', '^SN1', '^HV1', '^GFB,9,9,1,x'])(
    '%s is refused to everybody',
    (command) => {
      const source = `^XA^FO1,1^FDa^FS${command}^FS^XZ`;
      expect(() => compileRawZpl(raw(source), undefined, { printerCommands: true })).toThrow(
        refused(/line 1: /),
      );
    },
  );

  test('^PQ does not pause the printer between groups of labels', () => {
    expect(filled('^XA^FDa^FS^PQ9,1^XZ')).toBe('^XA^CI28^FDa^FS^PQ1,1,,Y^XZ');
    expect(filled('^XA^FDa^FS^PQ9,2,0,N^XZ')).toBe('^XA^CI28^FDa^FS^PQ1,2,0,Y^XZ');
    expect(filled('^XA^FDa^FS^PQ9,0,1,N^XZ')).toBe('^XA^CI28^FDa^FS^PQ1,0,1,N^XZ');
  });
});

describe('what a label brings along', () => {
  const logo = (row: string) =>
    raw(`~DGR:LOGO.GRF,8,1,${row.repeat(8)}\n^XA^FO40,40^XGR:LOGO.GRF,8,8^FS^IDR:LOGO.GRF^FS^XZ`);

  test('has names of its job: two tenants do not meet in the memory of one printer, and nothing stays there', async () => {
    const { printer, printed } = await bench();
    const client = new Client(printer.port);
    const [full, half] = await Promise.all(
      [logo('FF'), logo('F0')].map(async (template, tenant) => {
        const job = { ...jobFor(template, [{}, {}]), jobId: `00000000-0000-4000-8000-00000000000${tenant}` };
        const encoder = await openZpl(job);
        return { encoder, job, begin: encoder.begin(), end: encoder.end() };
      }),
    );
    if (full === undefined || half === undefined) throw new Error('two jobs');
    expect(
      new Set([...`${full.begin}${half.begin}`.matchAll(/~DGR:(G\w{7})\.GRF/g)].map(([, name]) => name)).size,
    ).toBe(2);
    for (const bytes of [
      full.begin,
      half.begin,
      await full.encoder.label(0, 1),
      await half.encoder.label(0, 1),
    ]) {
      client.send(bytes);
    }
    client.send(full.end);
    client.send(await half.encoder.label(1, 1));
    client.send(half.end);
    const pictures = await Promise.all((await printed(3)).map(({ file }) => look(file)));
    expect(pictures.map(({ ink }) => ink)).toEqual([
      [40, 40, 103, 103],
      [40, 40, 71, 103],
      [40, 40, 71, 103],
    ]);
    while (printer.state().graphics > 0) await once(printer, 'status');
  });

  test('goes with each label where a power cycle of the printer would not be noticed', async () => {
    const job = jobFor(logo('FF'), [{}, {}]);
    const stream = String(await wholeJob(job, await openZpl(job)));
    expect(stream.match(/~DG/g)).toHaveLength(1);
    const alone = { ...job, format: { ...job.format, storedFormats: false } };
    const encoder = await openZpl(alone);
    expect(String(await wholeJob(alone, encoder)).match(/~DG/g)).toHaveLength(2);
    expect(String(encoder.begin())).toBe('');
  });

  test('pictures and fonts in text only: anything else, and binary data, is refused', () => {
    for (const download of [
      '~DYR:A,B,G,8,1,xx',
      '~DYR:A,A,NRD,8,,00',
      '~DYR:A,C,T,8,,00',
      '~DYR:*,A,G,8,1,00',
    ]) {
      expect(() => compileRawZpl(raw(`${download}^XA^FDa^FS^XZ`))).toThrow(refused(/line 1: ~DY/));
    }
  });
});

describe('fixed text keeps its code page, values are what they are', () => {
  const sheet = [500, 120] as const;
  const drawn = async (source: string) => await dotsOf(await drawZpl(source, ...sheet));
  const field = (data: string, more = '^FH\\') => `^FO20,20^A0,40${more}^FD${data}^FS`;
  const expected = (text: string) => drawn(`^XA^CI28${field(text, '')}^XZ`);

  test.each([
    ['without ^CI, bytes of code page 850', `^XA${field('Qt\\82')}^XZ`, 'Qté'],
    ['without ^CI, bytes of UTF-8', `^XA${field('Qt\\C3\\A9')}^XZ`, 'Qté'],
    ['without ^CI, characters', `^XA${field('Qté')}^XZ`, 'Qté'],
    ['^CI13, bytes', `^XA^CI13${field('Qt\\82')}^XZ`, 'Qté'],
    ['^CI13, characters', `^XA^CI13${field('Qté', '')}^XZ`, 'Qté'],
    ['^CI27, bytes', `^XA^CI27${field('Qt\\E9')}^XZ`, 'Qté'],
    ['^CI27, characters that it lacks', `^XA^CI27${field('Ωé')}^XZ`, 'Ωé'],
    ['without ^CI, beside a value', `^XA${field('Qt\\82 {{v}}')}^XZ`, 'Qté ñ€'],
    ['^CI13, beside a value', `^XA^CI13${field('Qt\\82 {{v}}')}^XZ`, 'Qté ñ€'],
    ['^CI27, a value', `^XA^CI27${field('{{v}}', '')}^XZ`, 'ñ€'],
    ['^CI27, a numbered field', '^XA^CI27^FO20,20^A0,40^FN1"v"^FS^XZ', 'ñ€'],
    ['^CI13, the default of a numbered field', '^XA^CI13^FO20,20^A0,40^FH\\^FN1"none"^FDQt\\82^FS^XZ', 'Qté'],
  ])('%s', async (_, source, text) => {
    expect(await drawn(filled(source, { v: 'ñ€' }))).toEqual(await expected(text));
  });

  test('a value in UTF-8 does not change the fields after it', async () => {
    const after = '^FO20,70^A0,40^FH\\^FDQt\\82^FS';
    const both = await drawn(`^XA^CI28${field('ñ', '')}^FO20,70^A0,40^FDQté^FS^XZ`);
    expect(await drawn(filled(`^XA^CI13${field('{{v}}', '')}${after}^XZ`, { v: 'ñ' }))).toEqual(both);
    expect(await drawn(filled(`^XA${field('{{v}}', '')}${after}^XZ`, { v: 'ñ' }))).toEqual(both);
  });

  test('a field of ASCII goes as it stands, in the code page', () => {
    expect(filled(`^XA^CI13${field('a{{v}}')}^XZ`, { v: 'b' })).toBe(`^XA^CI13${field('ab')}^PQ1^XZ`);
  });
});
