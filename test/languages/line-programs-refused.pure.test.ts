/** What an EPL2 or TSPL2 document is told by, and what of it is refused by name. */
import { describe, expect, test } from 'vitest';
import { openEncoder } from '../../drivers/languages/index.ts';
import { mostData } from '../../src/contract/dots.ts';
import { JobFaultError } from '../../src/contract/fault.ts';
import type { LanguageId } from '../../src/contract/format.ts';
import type { LabelRecord } from '../../src/contract/print-request.ts';
import { programKind } from '../../src/render/document/document-file.ts';
import {
  base64,
  EPL_HEAD,
  EPL_LABEL,
  type LineLanguageId,
  programJob,
  refusal,
  TSPL_HEAD,
  TSPL_LABEL,
} from '../kit/documents/programs.ts';

describe('what a document is', () => {
  test.each<[string, string, string | undefined]>([
    ['EPL2 as carriers begin it', EPL_HEAD + EPL_LABEL, 'epl'],
    ['EPL2 that only clears', 'N\nP1\n', 'epl'],
    ['EPL2 that stores a logo first', 'GK"LOGO"\nGM"LOGO"3\nabc', 'epl'],
    ['TSPL2', TSPL_HEAD + TSPL_LABEL, 'tspl'],
    ['TSPL2 in inches, lower case', 'size 4,6\ncls\nprint 1\n', 'tspl'],
    ['TSPL2 that only clears', 'CLS\r\nPRINT 1\r\n', 'tspl'],
    ['ZPL', '^XA^FDx^FS^XZ', 'zpl'],
    ['a letter', 'No label, but a text\n', undefined],
    ['nothing', '', undefined],
  ])('%s, told by its bytes', (_, text, kind) => {
    expect(programKind(base64(text))).toBe(kind);
  });

  const fields = [{ name: 'document' }, { name: 'is' }];
  const printed = async (record: LabelRecord, language: LanguageId) => {
    const encoder = await openEncoder(programJob([record], language, { fields }));
    return Buffer.from(await encoder.label(0, 1)).toString('latin1');
  };

  test('may be said by the record', async () => {
    // What begins so could be anything.
    const document = base64('A10,10,0,3,1,1,N,"one"\nP1\n');
    await expect(printed({ document }, 'epl')).rejects.toMatchObject({
      fault: { reason: { code: 'document-kind' } },
    });
    expect(await printed({ document, is: 'EPL' }, 'epl')).toContain('A10,10,0,3,1,1,N,"one"\nP1\n');
    for (const [is, code] of [
      ['gif', 'document-said'],
      ['pdf', 'document-not-said'],
      ['png', 'document-kind'],
    ])
      await expect(printed({ document, is: is ?? '' }, 'epl')).rejects.toMatchObject({
        fault: { reason: { code } },
      });
  });

  test.each<[string, string, LanguageId, string]>([
    ['EPL2', EPL_LABEL, 'tspl', 'PDF, PNG, JPEG, PWG raster, ZPL, TSPL2'],
    ['EPL2', EPL_LABEL, 'zpl', 'PDF, PNG, JPEG, PWG raster, ZPL'],
    ['TSPL2', TSPL_LABEL, 'epl', 'PDF, PNG, JPEG, PWG raster, ZPL, EPL2'],
    ['TSPL2', TSPL_LABEL, 'pdf', 'PDF, PNG, JPEG, PWG raster, ZPL'],
    ['TSPL2', TSPL_LABEL, 'pwg-raster', 'PDF, PNG, JPEG, PWG raster, ZPL'],
  ])(
    '%s %#: at a printer of another language it is refused, with what that printer takes',
    async (name, text, language, taken) => {
      const encoder = await openEncoder(programJob([{ document: base64(text) }], language));
      await expect(encoder.label(0, 1)).rejects.toMatchObject({
        fault: {
          code: 'value-invalid',
          field: 'document',
          reason: { code: 'document-language', values: { language: name, taken } },
        },
      });
    },
  );
});

test.each(['epl', 'tspl'] as const)(
  '%s: region, turn, fit and orientation are for pictures',
  async (language) => {
    const document = base64(language === 'epl' ? EPL_LABEL : TSPL_LABEL);
    for (const [member, more] of [
      ['page.region', { page: { region: 'ink' } }],
      ['page.turn', { page: { turn: 90 } }],
      ['orientation', { orientation: 'landscape' }],
    ] as const) {
      const encoder = await openEncoder(programJob([{ document }], language, more));
      await expect(encoder.label(0, 1)).rejects.toMatchObject({
        fault: { reason: { code: 'document-own', values: { member } } },
      });
    }
  },
);

describe('is refused by name', () => {
  test.each<[string, LineLanguageId, string, string]>([
    ['a reset', 'epl', `^@\n${EPL_LABEL}`, 'program-at-once'],
    ['a reset behind a text', 'epl', 'N\nA1,1,0,1,1,1,N,"a"^@\nP1\n', 'program-quotes'],
    ['a question', 'epl', `^ee\n${EPL_LABEL}`, 'program-at-once'],
    ['another question', 'epl', `UQ\n${EPL_LABEL}`, 'zpl-answers'],
    ['errors that are reported', 'epl', `US\n${EPL_LABEL}`, 'zpl-answers'],
    ['a print of the configuration', 'epl', `U\n${EPL_LABEL}`, 'program-other-label'],
    ['a counter', 'epl', 'C0,6,N,+1,"n"\nN\nP1\n', 'zpl-counts'],
    ['a form that others have stored', 'epl', 'FR"PAYROLL"\n?\n', 'program-recalls'],
    ['a form of its own', 'epl', 'FS"A"\nFE\nN\nP1\n', 'does-store'],
    ['what it has not stored', 'epl', `GK"LOGO"\n${EPL_LABEL}`, 'does-delete'],
    ['line mode', 'epl', `OEPL1\n${EPL_LABEL}`, 'does-language'],
    ['the port', 'epl', `Y96,N,8,1\n${EPL_LABEL}`, 'does-ports'],
    ['a carriage return alone', 'epl', 'N\nA1,1,0,1,1,1,N,"a\rP99"\nP1\n', 'program-control'],
    ['a text that does not end', 'epl', 'N\nA1,1,0,1,1,1,N,"a\nP1\n', 'program-quotes'],
    ['a picture that is cut off', 'epl', 'N\nGW0,0,80,800,abc\nP1\n', 'program-cut-off'],
    ['what is no command', 'epl', 'N\nHello\nP1\n', 'program-unknown'],
    ['a name that every object has', 'epl', 'N\nconstructor\nP1\n', 'program-unknown'],
    ['a label over the one before', 'epl', 'N\nP1\nX1,1,1,9,9\nP1\n', 'program-uncleared'],
    ['no label', 'epl', 'N\n', 'program-no-label'],
    ['a thousand million labels', 'epl', 'N\nP65535,65535\n', 'program-labels-many'],
    ['a label that is not to come out', 'epl', 'N\nP0\n', 'program-unknown'],
    ['a label no copy of which is to', 'tspl', 'CLS\nPRINT 1,0\n', 'program-unknown'],
    ['endless lines', 'epl', 'N\n'.repeat(300_000), 'program-commands-many'],
    ['more downloads than can be named', 'epl', 'GM"A"1\nx\n'.repeat(2_000), 'program-downloads-many'],
    ['a setting without an end', 'epl', `q${'1'.repeat(999)}\nN\nP1\n`, 'program-long'],
    ['a reset in data', 'tspl', 'CLS\nBITMAP 0,0,1,3,1,\x1b!R\nPRINT 1\n', 'program-at-once'],
    ['a question', 'tspl', `~!T\n${TSPL_LABEL}`, 'zpl-answers'],
    ['answers', 'tspl', `SET RESPONSE ON\n${TSPL_LABEL}`, 'zpl-answers'],
    ['a print of the configuration', 'tspl', `SELFTEST\n${TSPL_LABEL}`, 'program-other-label'],
    ['a counter', 'tspl', 'SET COUNTER @1 1\n@1="0001"\nCLS\nPRINT 3\n', 'zpl-counts'],
    ['a loop', 'tspl', 'FOR I=1 TO 9\nCLS\nPRINT 1\nNEXT\n', 'program-unknown'],
    ['labels without an end', 'tspl', 'CLS\nPRINT -1\n', 'program-unknown'],
    ['a program that is stored', 'tspl', 'DOWNLOAD "A.BAS"\nPRINT 9\nEOP\n', 'program-object'],
    ['a file of another kind', 'tspl', 'DOWNLOAD "AUTO.BAS",3,abc\nCLS\nPRINT 1\n', 'program-object'],
    ['flash memory', 'tspl', 'DOWNLOAD F,"A.BMP",3,abc\nCLS\nPRINT 1\n', 'does-store'],
    ['what it has not stored', 'tspl', 'KILL "*"\nCLS\nPRINT 1\n', 'does-delete'],
    ['feeding', 'tspl', 'HOME\nCLS\nPRINT 1\n', 'does-feed'],
    ['the port', 'tspl', 'SET COM1 96,N,8,1\nCLS\nPRINT 1\n', 'does-ports'],
    ['the network', 'tspl', 'WLAN SSID "x"\nCLS\nPRINT 1\n', 'does-network'],
    ['two commands in a line', 'tspl', 'CLS PRINT 9\nPRINT 1\n', 'program-unknown'],
    ['a text that does not end', 'tspl', 'CLS\nTEXT 1,1,"3",0,1,1,"a\nPRINT 1\n', 'program-quotes'],
    [
      'a text of what comes next, of whomever',
      'tspl',
      'CLS\nTEXT 1,1,"3",0,1,1,INP$(500)\nPRINT 1\n',
      'program-quotes',
    ],
    [
      'a text of what the printer knows',
      'tspl',
      'CLS\nTEXT 1,1,"3",0,1,1,"a"+GETSETTING$("WLAN","SSID")\nPRINT 1\n',
      'program-quotes',
    ],
    [
      'a symbol that takes in what comes next',
      'tspl',
      'CLS\nPDF417 1,1,99,99,0,E3,L2000,x\nPRINT 1\n',
      'program-counted',
    ],
    [
      'such a symbol, with blanks and quotes',
      'tspl',
      'CLS\nMAXICODE 1,1,4, l 99,"x"\nPRINT 1\n',
      'program-counted',
    ],
    [
      'such a symbol without a letter',
      'tspl',
      'CLS\nAZTEC 1,1,0,4,1,0,0,1,0,999,"x"\nPRINT 1\n',
      'program-counted',
    ],
    [
      'a file that takes in what comes next',
      'tspl',
      ' DOWNLOAD "A.BMP",500,\nCLS\nPRINT 1\n',
      'program-unknown',
    ],
    [
      'such a file behind marks',
      'tspl',
      'CLS\n<xpml></xpml>DOWNLOAD "A.BMP",500,\nPRINT 1\n',
      'program-unknown',
    ],
  ])('%s', async (_, language, text, reason) => {
    expect(await refusal(text, language)).toBe(reason);
  });

  test('but no symbol whose content ends', async () => {
    for (const symbol of [
      'QRCODE 1,1,L,4,A,0,M2,S7,"L99,x"',
      'AZTEC 1,1,0,4,1,0,0,1,0,"x"',
      'PDF417 1,1,99,99,0,E3,"x,L9"',
      'MAXICODE 1,1,2,840,06810,7317,"x"',
      'DMATRIX 1,1,99,99,c126,x3,"x"',
      'BARCODE 1,1,"128M",48,1,0,2,2,"!105x"',
    ])
      expect(await refusal(`CLS\n${symbol}\nPRINT 1\n`, 'tspl')).toBe('taken');
    for (const symbol of ['b1,1,P,700,600,x2,y7,l100,r0,f0,s5,"x"', 'B1,1,0,1,3,8,9,N,"x"', 'LO1,1,9,9'])
      expect(await refusal(`N\n${symbol}\nP1\n`, 'epl')).toBe('taken');
  });

  test('also with the permission for printer commands, where labels would get lost or doubled', async () => {
    expect(await refusal(`^@\n${EPL_LABEL}`, 'epl', true)).toBe('program-at-once');
    expect(await refusal('FR"A"\n', 'epl', true)).toBe('program-recalls');
    expect(await refusal(`SET RESPONSE ON\n${TSPL_LABEL}`, 'tspl', true)).toBe('zpl-answers');
    expect(await refusal('FOR I=1 TO 9\nCLS\nPRINT 1\nNEXT\n', 'tspl', true)).toBe('program-unknown');
    expect(await refusal(`Y96,N,8,1\n${EPL_LABEL}`, 'epl', true)).toBe('taken');
    expect(await refusal('HOME\nCLS\nPRINT 1\n', 'tspl', true)).toBe('taken');
  });

  test('data that nothing could end if it were cut off', async () => {
    const job = programJob([{ document: '' }], 'epl');
    const most = mostData(job.format, job.format.dpi);
    const document = (rows: number) => base64(`N\nGW0,0,104,${rows},${'\xff'.repeat(104 * rows)}\nP1\n`);
    const label = async (rows: number) => {
      const encoder = await openEncoder({ ...job, records: [{ document: document(rows) }] });
      return await encoder.label(0, 1);
    };
    // As wide as a print head of four inches.
    expect((await label(1_218)).length).toBeGreaterThan(104 * 1_218);
    await expect(label(Math.ceil(most / 104) + 1)).rejects.toThrow(JobFaultError);
    await expect(label(Math.ceil(most / 104) + 1)).rejects.toMatchObject({
      fault: { reason: { code: 'program-data-large' } },
    });
  });
});

test('what took a reader long that looks back is read in one go', async () => {
  const quotes = `N\nA1,1,0,1,1,1,N,"${'\\"'.repeat(2_000_000)}\nP1\n`;
  expect(await refusal(quotes, 'epl')).toBe('program-quotes');
  expect(await refusal(`CLS\nTEXT 1,1,"${'\\["]'.repeat(1_000_000)}\nPRINT 1\n`, 'tspl')).toBe(
    'program-quotes',
  );
  expect(await refusal(`SIZE${' '.repeat(3_000_000)}x\n`, 'tspl')).toBe('program-long');
  expect(await refusal(`O${'C'.repeat(4_000_000)}\nN\nP1\n`, 'epl')).toBe('taken');
  expect(await refusal(`O${'C'.repeat(4_000_000)}\nN\nP1\n`, 'epl', true)).toBe('program-long');
  expect(await refusal(`q${'1'.repeat(4_000_000)}\nN\nP1\n`, 'epl')).toBe('program-long');
  expect(await refusal(`N\nA${'1,'.repeat(2_000_000)}\nP1\n`, 'epl')).toBe('taken');
  expect(await refusal(`${'Q'.repeat(4_000_000)}\nN\nP1\n`, 'epl')).toBe('program-unknown');
  expect(await refusal(`${'A'.repeat(4_000_000)} ${'B'.repeat(100_000)}\n`, 'tspl')).toBe('program-unknown');
  expect(await refusal(`KILL ${' '.repeat(4_000_000)}x\n`, 'tspl')).toBe('program-unknown');
});
