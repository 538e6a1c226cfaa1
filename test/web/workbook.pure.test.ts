/** What the page Print reads from Excel files, as people have them and as nobody should. */
import { strToU8, zipSync } from 'fflate';
import { expect, test } from 'vitest';
import writeXlsxFile, { type SheetData } from 'write-excel-file/node';
import { TableTooLarge } from '../../src/tables/table.ts';
import { digitsOf, readWorkbook } from '../../src/tables/workbook.ts';

const sheet = async (...rows: SheetData) => new Uint8Array(await (await writeXlsxFile(rows)).toBuffer());

test('text keeps its zeros, numbers have digits, days are ISO', async () => {
  const file = await sheet(
    ['ean', 'number', 'price', 'day', 'time', 'yes'].map((value) => ({ value })),
    [
      { value: '012345678901' },
      { value: 4006381333931 },
      { value: 0.1 + 0.2 },
      { value: new Date(Date.UTC(2026, 10, 22)), type: Date, format: 'dd/mm/yyyy' },
      { value: new Date(Date.UTC(2026, 10, 22, 14, 5, 9)), type: Date, format: 'dd/mm/yyyy hh:mm' },
      { value: true },
    ],
    [{ value: '0007' }, { value: 1e21 }, null, null, null, { value: false }],
  );
  expect(await readWorkbook(file)).toEqual({
    columns: ['ean', 'number', 'price', 'day', 'time', 'yes'],
    rows: [
      ['012345678901', '4006381333931', '0.3', '2026-11-22', '2026-11-22T14:05:09', 'TRUE'],
      ['0007', '1000000000000000000000', '', '', '', 'FALSE'],
    ],
    numbers: [2, 3],
  });
});

test('a row has the number that Excel shows beside it, also after empty rows', async () => {
  const empty = [{ value: ' ' }];
  const file = await sheet(empty, [{ value: 'ean' }], [{ value: 'a' }], empty, [null], [{ value: 'b' }]);
  expect(await readWorkbook(file)).toEqual({ columns: ['ean'], rows: [['a'], ['b']], numbers: [3, 6] });
});

test.each([
  ['4.00638133393E12', '4006381333930'],
  ['4.0063813339309998E12', '4006381333931'],
  ['1E-7', '0.0000001'],
  ['-1.25e-9', '-0.00000000125'],
  ['-3e22', '-30000000000000000000000'],
  ['0.30000000000000004', '0.3'],
  ['7', '7'],
  ['340123450000000018', '340123450000000018'],
  ['-12345678901234567890', '-12345678901234567890'],
  ['3.4012345000000001E17', '340123450000000000'],
  ['3.4012345000000019E17', '3.4012345000000019E17'],
  ['x', 'x'],
])('the number %s is %s', (stored, shown) => expect(digitsOf(stored)).toBe(shown));

/** Makes a workbook by hand, around one sheet. */
function workbook(cells: string, more: Record<string, Uint8Array> = {}): Uint8Array {
  const head = '<?xml version="1.0" encoding="UTF-8"?>';
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  return zipSync({
    '[Content_Types].xml': strToU8(
      `${head}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`,
    ),
    '_rels/.rels': strToU8(
      `${head}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="${office}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    ),
    'xl/workbook.xml': strToU8(
      `${head}<workbook xmlns="${main}" xmlns:r="${office}"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    ),
    'xl/_rels/workbook.xml.rels': strToU8(
      `${head}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="${office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
    ),
    'xl/worksheets/sheet1.xml': strToU8(
      `${head}<worksheet xmlns="${main}"><sheetData>${cells}</sheetData></worksheet>`,
    ),
    ...more,
  });
}
const text = (at: string, value: string) => `<c r="${at}" t="inlineStr"><is><t>${value}</t></is></c>`;

test('of a formula it is the value that was saved with it', async () => {
  const file = workbook(
    `<row r="1">${text('A1', 'sum')}${text('B1', 'word')}</row>
     <row r="2"><c r="A2"><f>20+22</f><v>42</v></c><c r="B2" t="str"><f>"0"&amp;7</f><v>07</v></c></row>`,
  );
  expect(await readWorkbook(file)).toEqual({ columns: ['sum', 'word'], rows: [['42', '07']], numbers: [2] });
});

test.each([
  [
    'a cell in the last row',
    `<row r="1">${text('A1', 'a')}</row><row r="1048576">${text('A1048576', 'x')}</row>`,
    {},
  ],
  [
    'a row beyond all rows',
    `<row r="1">${text('A1', 'a')}</row><row r="99999999999">${text('A1', 'x')}</row>`,
    {},
  ],
  ['a cell beyond all rows', `<row r="1">${text('A1', 'a')}${text('A99999999999', 'x')}</row>`, {}],
  ['a cell beyond all columns', `<row r="1">${text('A1', 'a')}${text('AAAAAAA1', 'x')}</row>`, {}],
  [
    'a place in references',
    `<row r="1">${text('A1', 'a')}</row><row r="&#49;048576">${text('A2', 'x')}</row>`,
    {},
  ],
  [
    'a place after spaces',
    `<row r="1">${text('A1', 'a')}</row><row  r   =  "1048576">${text('A2', 'x')}</row>`,
    {},
  ],
  [
    'a place after a >',
    `<row r="1">${text('A1', 'a')}</row><row x=">" r="1048576">${text('A2', 'x')}</row>`,
    {},
  ],
  [
    'a sheet that is kept elsewhere',
    '',
    {
      'xl/_rels/workbook.xml.rels': strToU8(
        `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="elsewhere.xml"/></Relationships>`,
      ),
      'xl/elsewhere.xml': strToU8(
        `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1">${text('A1', 'a')}</row><row r="1048576">${text('A1048576', 'x')}</row></sheetData></worksheet>`,
      ),
    },
  ],
  ['a cell in the last column', `<row r="1">${text('A1', 'a')}${text('XFD1', 'b')}</row>`, {}],
  [
    'more parts than a workbook has',
    '',
    Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`p${at}`, strToU8('x')])),
  ],
])('%s is too large', async (_, cells, more) => {
  await expect(readWorkbook(workbook(cells, more))).rejects.toThrow(TableTooLarge);
});

test('what a cell says of places is a value', async () => {
  const file = workbook(
    `<row r="1">${text('A1', 'a')}</row><row r="2">${text('A2', 'radius r="9999999999 mm"')}</row>`,
  );
  expect((await readWorkbook(file)).rows).toEqual([['radius r="9999999999 mm"']]);
});

const laughs = `<!DOCTYPE x [<!ENTITY a "ha">${Array.from({ length: 9 }, (_, at) => `<!ENTITY ${'bcdefghij'[at]} "${`&${'abcdefghi'[at]};`.repeat(10)}">`).join('')}<!ENTITY file SYSTEM "file:///etc/passwd">]>`;
test.each([
  ['entities of entities', `${laughs}<sst><si><t>&j;</t></si></sst>`],
  ['an entity of a file', `${laughs}<sst><si><t>&file;</t></si></sst>`],
  ['100,000 levels', `<sst>${'<si>'.repeat(100_000)}<t>x</t>${'</si>'.repeat(100_000)}</sst>`],
  ['300,000 strings', `<sst>${'<si><t>x</t></si>'.repeat(300_000)}</sst>`],
])('%s: nothing is looked up, and the rest is read or refused', async (_, strings) => {
  const file = workbook(`<row r="1">${text('A1', 'a')}</row><row r="2"><c r="A2" t="s"><v>0</v></c></row>`, {
    'xl/sharedStrings.xml': strToU8(strings),
  });
  const said = await readWorkbook(file).then(({ rows }) => JSON.stringify(rows), String);
  expect(said.length).toBeLessThan(1_000);
  expect(said).not.toContain('root:');
});

/** A workbook with a part whose entry in the directory, which is what counts, says that it has this many bytes. */
function bomb(bytes: number, said: number): Uint8Array {
  const file = workbook('', { 'xl/sharedStrings.xml': new Uint8Array(bytes) });
  const view = new DataView(file.buffer, file.byteOffset);
  const places = Array.from({ length: file.length - 46 }, (_, at) => at).filter(
    (at) => view.getUint32(at, true) === 0x02014b50 && view.getUint32(at + 24, true) === bytes,
  );
  expect(places).toHaveLength(1);
  view.setUint32((places[0] ?? 0) + 24, said, true);
  return file;
}

test('a bomb is too large before it is unpacked; one that denies it is cut off', async () => {
  await expect(readWorkbook(bomb(1_000_001, 200_000_000))).rejects.toThrow(TableTooLarge);
  await expect(readWorkbook(bomb(1_000_001, 10))).rejects.toThrow();
});

test.each([
  ['nothing', new Uint8Array()],
  ['no archive', strToU8('PK but not really')],
  ['an archive of something else', zipSync({ 'a.txt': strToU8('x') })],
  ['XML that does not end', workbook('<row r="1">')],
  ['a heading without rows', workbook(`<row r="1">${text('A1', 'a')}</row>`)],
])('%s is refused', async (_, bytes) => {
  await expect(readWorkbook(bytes)).rejects.toThrow(Error);
});
