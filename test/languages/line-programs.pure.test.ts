/** EPL2 and TSPL2 documents at printers of these languages: sent as they came, under the rules of ZPL documents. */
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openEncoder } from '../../drivers/languages/index.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { documentPages } from '../../src/render/document/document.ts';
import { programKind } from '../../src/render/document/document-file.ts';
import { createBitmap, cropBitmap } from '../../src/render/image/bitmap.ts';
import { encodePng } from '../../src/render/image/png-encoder.ts';
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
import { differingDots } from '../kit/judges/judges.ts';
import { readEpl, readTspl } from '../kit/judges/label-printers.ts';
import { wholeJob } from '../kit/judges/printed.ts';

/** Each label of a document, as a printer of its language gets it, with what the job sends before and after. */
async function sent(
  text: string,
  language: LineLanguageId,
  labels = 1,
  more: Partial<QueuedJob> = {},
  copies = 1,
) {
  const records = Array.from({ length: labels }, (_, at) => ({
    document: at === 0 ? `${base64(text)}#page=1` : `#page=${at + 1}&record=0`,
  }));
  const encoder = await openEncoder(programJob(records, language, more));
  const begin = Buffer.from(encoder.begin()).toString('latin1');
  const made: string[] = [];
  for (const at of records.keys()) made.push(Buffer.from(await encoder.label(at, copies)).toString('latin1'));
  return { begin, made, end: Buffer.from(encoder.end()).toString('latin1') };
}

describe('a label is sent byte for byte', () => {
  test.each<[string, LineLanguageId, string]>([
    ['EPL2', 'epl', `q812\r\n${EPL_LABEL}`],
    [
      'EPL2 with line feeds alone, lines between, and binary data',
      'epl',
      'N\n\nA1,1,0,1,1,1,N,"a"\n\nGW8,8,2,2,\x1b!\n\xff\nP1\n',
    ],
    ['TSPL2', 'tspl', TSPL_LABEL],
    ['TSPL2 with binary data that no line end follows', 'tspl', 'CLS\nBITMAP 0,0,2,2,1,ab\n\xffPRINT 1\n'],
  ])('%s', async (_, language, text) => {
    const { made, end } = await sent(text, language);
    const [before, after, ...more] = made[0]?.split(text) ?? [];
    expect(more).toEqual([]);
    expect(after).toBe(text === TSPL_LABEL ? 'CODEPAGE 850\r\n' : '');
    expect(before).not.toMatch(/^(?:A|B|GW|TEXT|BITMAP|P\d|PRINT)/m);
    expect(end).toMatch(language === 'epl' ? /^q816\r$/m : /^DIRECTION 0,0\r$/m);
  });

  test('but for what sets the printer up, which only the permission for printer commands lets through', async () => {
    const epl = (await sent(EPL_HEAD + EPL_LABEL, 'epl')).made[0];
    expect(epl?.endsWith(`\r\nI8,A,001\r\nq812\r\nZT\r\nR0,0\r\n${EPL_LABEL}I8,0,001\r\n`)).toBe(true);
    const tspl = (await sent(TSPL_HEAD + TSPL_LABEL, 'tspl')).made[0];
    const set = 'SIZE 101.6 mm, 152.4 mm\r\nDIRECTION 1,0\r\nREFERENCE 0,0\r\n';
    expect(tspl?.endsWith(`${set}${TSPL_LABEL}CODEPAGE 850\r\n`)).toBe(true);
    const allowed = { printerCommands: true } as const;
    const [one] = (await sent(EPL_HEAD + EPL_LABEL, 'epl', 1, allowed)).made;
    expect(one?.endsWith(`${EPL_HEAD.replace('EPL2\r\n', '')}${EPL_LABEL}I8,0,001\r\n`)).toBe(true);
    const [other] = (await sent(TSPL_HEAD + TSPL_LABEL, 'tspl', 1, allowed)).made;
    expect(other?.endsWith(`${TSPL_HEAD}${TSPL_LABEL}CODEPAGE 850\r\n`)).toBe(true);
  });

  test('and for the number of copies', async () => {
    expect((await sent('N\nX1,1,1,9,9\nP1,1\n', 'epl', 1, {}, 5)).made[0]).toMatch(/\nX1,1,1,9,9\nP5\r\n$/);
    expect((await sent('CLS\nBAR 1,1,9,9\nPRINT 1\n', 'tspl', 1, {}, 5)).made[0]).toMatch(
      /9,9\nPRINT 1,5\r\n$/,
    );
  });

  test('as BarTender writes it, with marks around', async () => {
    const text =
      "<xpml><page quantity='0' pitch='25.4 mm'></xpml>SIZE 97.5 mm, 25.4 mm\r\n" +
      "<xpml></page></xpml><xpml><page quantity='1' pitch='25.4 mm'></xpml>CLS\r\nBAR 1,1,9,9\r\nPRINT 1,1\r\n" +
      '<xpml></page></xpml><xpml><end/></xpml>';
    expect(programKind(base64(text))).toBe('tspl');
    expect((await sent(text, 'tspl')).made[0]).toMatch(
      /SIZE 97.5 mm, 25.4 mm\r\nCLS\r\nBAR 1,1,9,9\r\nPRINT 1,1\r\n$/,
    );
  });
});

describe('several labels', () => {
  test('are a label each, as often as they say', async () => {
    expect(await documentPages(base64('N\nP1\nN\nP2,3\nN\nP1'), {})).toEqual([1, 6, 1]);
    expect(await documentPages(base64('CLS\nPRINT 1\nCLS\nPRINT 2,3\n'), {})).toEqual([1, 6]);
    expect((await sent('N\nX1,1,1,9,9\nP1\nN\nX2,2,1,9,9\nP3\n', 'epl', 2)).made[1]).toMatch(
      /X2,2,1,9,9\nP1\r\n$/,
    );
  });

  test.each<[LineLanguageId, string, RegExp]>([
    [
      'epl',
      'R9,9\nq400\nI8,A,001\nN\nP1\nq500\nZB\nN\nP1\nN\nX1,1,1,9,9\nP1\n',
      /^\r\nR0,0\r\nq816\r\nZT\r\nR9,9\nI8,A,001\nq500\nZB\nN\r\nN\nX1,1,1,9,9\nP1\nI8,0,001\r\n$/,
    ],
    [
      'tspl',
      'SIZE 4,6\nCODEPAGE 1252\nCLS\nPRINT 1\nDIRECTION 1\nCLS\nPRINT 1\nCLS\nBAR 1,1,9,9\nPRINT 1\n',
      /\nREFERENCE 0,0\r\nSIZE 4,6\nCODEPAGE 1252\nDIRECTION 1\nCLS\r\nCLS\nBAR 1,1,9,9\nPRINT 1\nCODEPAGE 850\r\n$/,
    ],
  ])(
    '%s: begin with what those before them have set, also when they are sent alone, and leave none of it behind',
    async (language, text, third) => {
      const all = await sent(text, language, 3);
      expect(all.made[2]).toMatch(third);
      const alone = await openEncoder(programJob([{ document: `${base64(text)}#page=3` }], language));
      expect(Buffer.from(await alone.label(0, 1)).toString('latin1')).toBe(all.made[2]);
    },
  );

  test('of a long document are looked at one by one, and the document once', async () => {
    const long = 1_000_000;
    const text = `N\n;${'x'.repeat(long)}\nP1\n${'N\nX1,1,1,9,9\nP1\n'.repeat(9)}`;
    const records = Array.from({ length: 10 }, (_, at) => ({
      document: at === 0 ? `${base64(text)}#page=1` : `#page=${at + 1}&record=0`,
    }));
    const encoder = await openEncoder(programJob(records, 'epl'));
    await encoder.label(0, 1);
    const looked = vi.spyOn(RegExp.prototype, 'test');
    onTestFinished(() => looked.mockRestore());
    for (const at of records.keys()) await encoder.label(at, 1);
    expect(looked.mock.calls.length).toBeGreaterThan(9);
    expect(looked.mock.calls.filter(([one]) => one.length >= long)).toEqual([]);
  });

  test('share a download, which gets a name of the job’s own and is deleted after it', async () => {
    const epl = await sent(
      'GK"LOGO"\nGM"LOGO"4\n\nabc\nN\nGG9,9,"LOGO"\nP1\nN\nGG1,1,"LOGO"\nP1\n',
      'epl',
      2,
    );
    const [, name] = /^(?:GK"(G\w{7})"\r\n){2}GM"\1"4\n\nabc\n/.exec(epl.made[0] ?? '') ?? [];
    expect(name).toBeDefined();
    expect(epl.made.map((label) => /GG.*/.exec(label)?.[0])).toEqual([`GG9,9,"${name}"`, `GG1,1,"${name}"`]);
    expect(epl.made[1]).not.toContain('GM');
    expect(epl.end).toContain(`GK"${name}"`);
    expect(epl.made.join('')).not.toContain('LOGO');
    const tspl = await sent(
      'DOWNLOAD "A.BMP",3,\r\n!\r\nCLS\nPUTBMP 1,1,"a.bmp"\nTEXT 1,1,"3",0,1,1,"A.BMP"\nPRINT 1\n',
      'tspl',
    );
    const [, own] = /^DOWNLOAD "(G\w{7}\.BMP)",3,\r\n!\r\n/.exec(tspl.made[0] ?? '') ?? [];
    expect(tspl.made[0]).toContain(`PUTBMP 1,1,"${own}"\nTEXT 1,1,"3",0,1,1,"A.BMP"`);
    expect(tspl.end).toContain(`KILL "${own}"`);
  });
});

describe.each(['epl', 'tspl'] as const)('%s: dot by dot', (language) => {
  const SIZE = { width: 64, height: 40 };
  const read = (bytes: Uint8Array) => (language === 'epl' ? readEpl(bytes, 1218) : readTspl(bytes, 203));

  function picture(seed: number) {
    const bitmap = createBitmap(SIZE.width, SIZE.height);
    for (let at = 0; at < bitmap.data.length; at++) bitmap.data[at] = (at * seed * 37) % 251;
    return bitmap;
  }

  function program(seeds: readonly number[]): string {
    return seeds
      .map((seed) => {
        const data = Buffer.from(picture(seed).data.map((byte) => ~byte)).toString('latin1');
        return language === 'epl'
          ? `N\r\nGW16,24,8,40,${data}\r\nP1\r\n`
          : `CLS\r\nBITMAP 16,24,8,40,0,${data}\r\nPRINT 1,1\r\n`;
      })
      .join('');
  }

  test('labels of others and our own in one job, each as often as it should be', async () => {
    const png = Buffer.from(encodePng(picture(7), 203)).toString('base64');
    const text = program([3, 5]);
    const records = [
      { document: `${base64(text)}#page=1` },
      { document: png },
      { document: '#page=2&record=0' },
    ];
    const job = programJob(records, language, { copies: 2 });
    const labels = read(await wholeJob(job, await openEncoder(job)));
    expect(labels.map(({ copies }) => copies)).toEqual([2, 2, 2]);
    const drawn = labels.map(({ bitmap }, at) =>
      at === 1 ? cropBitmap(bitmap, 0, 0, 64, 40) : cropBitmap(bitmap, 16, 24, 64, 40),
    );
    expect(drawn.map((bitmap, at) => differingDots(bitmap, picture([3, 7, 5][at] ?? 0)))).toEqual([0, 0, 0]);
  });

  test('whatever a program is made of, a printer gets labels of it and no other command', async () => {
    const parts =
      language === 'epl'
        ? [
            'N\n',
            'P1\n',
            'P2\n',
            'GW0,0,1,2,\nP',
            'GW0,0,1,9,',
            'q80\n',
            'R1,1\n',
            'ZB\n',
            '^@\n',
            '^ee\n',
            'U\n',
            'FR"A"\n',
            'PA\n',
            '\r',
            '\x1b!R',
            'S9\n',
            'OD\n',
            '"',
            ' GW0,0,1,2,',
            'GM"A"3\n\nP9\n',
            '\n',
          ]
        : [
            'CLS\n',
            'PRINT 1\n',
            'PRINT 2\n',
            'BITMAP 0,0,1,2,1,\nP',
            'BITMAP 0,0,1,9,1,',
            'SIZE 20 mm,20 mm\n',
            'DIRECTION 1,0\n',
            'SPEED 9\n',
            '\x1b!R',
            '~!T\n',
            'SELFTEST\n',
            'RUN "A.BAS"\n',
            '\r',
            '"',
            ' BITMAP 0,0,1,2,1,',
            'DOWNLOAD "A.BMP",3,\nP9',
            '\n',
          ];
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...parts), { maxLength: 9 }), async (chosen) => {
        const text = chosen.join('');
        if ((await refusal(text, language)) !== 'taken') return;
        const quantities = await documentPages(base64(text), { said: language });
        const fields = [{ name: 'document' }, { name: 'is', default: language }];
        const records = quantities.map((_, at) => ({
          document: at === 0 ? `${base64(text)}#page=1` : `#page=${at + 1}&record=0`,
        }));
        const job = programJob(records, language, { fields });
        const bytes = await wholeJob(job, await openEncoder(job));
        // What a program stores, and deletes again.
        const plain = bytes
          .toString('latin1')
          .replaceAll(
            /GM"G\w{7}"3\n\nP9\n?|GK"G\w{7}"\r\n|DOWNLOAD "G\w{7}\.BMP",3,\nP9\r?\n?(?:\r\n)?|KILL "G\w{7}\.BMP"\r\n/g,
            '',
          );
        expect(read(Buffer.from(plain, 'latin1')).map(({ copies }) => copies)).toEqual(
          quantities.map(() => 1),
        );
        taken += 1;
      }),
      { numRuns: 500, seed: 30 },
    );
    expect(taken).toBeGreaterThan(5);
  });
});
