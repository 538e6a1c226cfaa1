/** What a ^BC of a tenant's own program holds: the value, the whole value, or none of it. */
import { expect, test } from 'vitest';
import { openZpl } from '../../drivers/languages/zpl/encode.ts';
import { rawZplTemplate } from '../../src/contract/template.ts';
import { compileRawZpl } from '../../src/zpl/raw/template.ts';
import { drawZpl, jobFor, labelText, readSymbols } from '../kit/judges/judges.ts';

function barcode(mode: string, data: string) {
  const source = `^XA^PW800^LL200^FO40,40^BY2^BCN,100,N,N,N,${mode}^FD${data}^FS^XZ`;
  return rawZplTemplate.parse({ name: 'Raw', language: 'zpl', source });
}

async function read(mode: string, data: string, record: Record<string, string>) {
  const encoder = await openZpl(jobFor(barcode(mode, data), [record]));
  const found = await readSymbols(await drawZpl(await labelText(encoder), 800, 200));
  return found.map(({ text, symbologyIdentifier }) => `${symbologyIdentifier} ${text}`);
}

test.each([
  ['mode N', 'N', '{{v}}', 'a>b>:c ^~', 'a>b>:c ^~'],
  ['beside an escape of the template', 'N', '>:A>0{{v}}', '1>8B', 'A>1>8B'],
  ['pairs of digits', 'N', '>;00{{v}}', '340123450000000018', '00340123450000000018'],
  ['digits that the template makes pairs of', 'N', '>;1{{v}}2', '34', '1342'],
  ['mode A', 'A', '{{v}}', 'Lot(1) 12345678', 'Lot(1) 12345678'],
  ['mode D, the AIs in the template', 'D', '(10){{v}}', 'A-1/2', '10A-1/2'],
  ['mode D, chained by the template', 'D', '(10){{v}}>8(21)7', 'A-1', '10A-1\u001d217'],
  [
    'mode D, the AIs in the value',
    'D',
    '{{v}}',
    '(01)04012345678901(10)A(21)B',
    '010401234567890110A\u001d21B',
  ],
  [
    'mode D, the AIs in the value, with blanks',
    'D',
    '{{v}}',
    '(00) 3 4012345 000000001 7',
    '00340123450000000017',
  ],
  ['mode U, the check digit added', 'U', '00{{v}}', '34012345000000001', '00340123450000000017'],
])('%s', async (_, mode, data, v, expected) => {
  expect(await read(mode, data, { v })).toEqual([`${/[DU]/.test(mode) ? ']C1' : ']C0'} ${expected}`]);
});

test.each([
  ['brackets that mode D strips', 'D', '(10){{v}}', 'A(1)', 'zpl-bc-mode-d'],
  ['blanks that mode D strips', 'D', '(10){{v}}', 'A 1', 'gs1-characters'],
  ['brackets in the value that are no AIs', 'D', '{{v}}', 'A(1)', 'gs1-brackets'],
  ['a sign that mode D may take for an invocation', 'D', '(10){{v}}', 'A>8B', 'zpl-escape'],
  ['a sign that mode A may take for an invocation', 'A', '{{v}}', 'A>8B', 'zpl-escape'],
  ['a sign that ends an invocation of the template', 'N', '>{{v}}', ';12', 'zpl-escape'],
  ['what set B does not have', 'N', '{{v}}', 'a\tb', 'zpl-bc-set-b'],
  ['what is no ASCII', 'N', '{{v}}', 'Größe', 'zpl-bc-set-b'],
  ['what is no ASCII, in mode A', 'A', '{{v}}', 'Größe', 'zpl-bc-ascii'],
  ['letters where digits are read', 'N', '>;{{v}}', '12AB', 'zpl-bc-pairs'],
  ['a digit too many', 'N', '>;00{{v}}', '34012345000000001', 'zpl-bc-pairs'],
  ['a digit too many before another code set', 'N', '>;{{v}}>6A', '123', 'zpl-bc-pairs'],
  ['letters in set A', 'N', '>9{{v}}', 'AB', 'zpl-bc-pairs'],
  ['letters in mode U', 'U', '00{{v}}', '3401234500000000A', 'zpl-bc-mode-u'],
  ['more digits than mode U prints', 'U', '00{{v}}', '340123450000000011234', 'zpl-bc-mode-u'],
  ['a wrong check digit in mode U', 'U', '00{{v}}', '340123450000000019', 'zpl-bc-mode-u'],
  ['fewer digits than mode U prints', 'U', '00{{v}}', '3401', 'zpl-bc-mode-u'],
])('refused: %s', (_, mode, data, v, code) => {
  const check = () => compileRawZpl(barcode(mode, data)).check({ v }, 7);
  const reason = expect.objectContaining({ code });
  const fault = expect.objectContaining({ code: 'value-invalid', record: 7, field: 'v', reason });
  expect(check).toThrowError(expect.objectContaining({ fault }));
});

test.each(['N', 'A', 'D', 'U'])('no value, no barcode: mode %s', (mode) => {
  expect(() => compileRawZpl(barcode(mode, '{{v}}')).check({})).not.toThrow();
});
