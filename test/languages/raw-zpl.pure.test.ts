import { describe, expect, test } from 'vitest';
import { openEncoder } from '../../drivers/languages/index.ts';
import { openZpl } from '../../drivers/languages/zpl/encode.ts';
import { type RawZplTemplate, rawZplTemplate } from '../../src/contract/template.ts';
import { templateFields } from '../../src/render/template-fields.ts';
import { fieldPieces } from '../../src/zpl/field-data.ts';
import { compileRawZpl } from '../../src/zpl/raw/template.ts';
import { drawZpl, jobFor, labelText, readSymbols } from '../kit/judges/judges.ts';

function raw(source: string, fields: readonly object[] = []): RawZplTemplate {
  return rawZplTemplate.parse({ name: 'Raw', language: 'zpl', source, fields });
}

function filled(source: string, record: Record<string, string | number>, copies = 1): string {
  return compileRawZpl(raw(source)).fill(record, copies);
}

describe('placeholders', () => {
  test.each([
    [
      'in ^FD without ^FH: one is added, and the text around it kept',
      '^FDa_b {{v}}^FS',
      '^FH^FDa_5Fb _5EXZ^FS',
    ],
    ['in ^FD with ^FH: its own indicator', '^FH\\^FD\\20{{v}}^FS', '^FH\\^FD\\20\\5EXZ^FS'],
    ['in ^FV', '^FV{{v}}^FS', '^FH^FV_5EXZ^FS'],
    ['named ^FN', '^FN3"v"^FS', '^FH^FD_5EXZ^FS'],
    ['named ^FN with ^FH', '^FH^FN3"v"^FS', '^FH^FD_5EXZ^FS'],
    ['named ^FN with a default', '^FN3"v"^FDnone^FS', '^FH^FD_5EXZ^FS'],
    ['in ^FD with ^FH before a line end', '^FH\n^FD{{v}}^FS', '^FH\n^FD_5EXZ^FS'],
    ['lower case commands', '^fd{{v}}^fs', '^FH^fd_5EXZ^fs'],
  ])('%s', (_, field, expected) => {
    const text = filled(`^XA^FO1,1^A0N,30,30${field}^XZ`, { v: '^XZ' });
    expect(text).toBe(`^XA^CI28^FO1,1^A0N,30,30${expected}^PQ1^XZ`);
  });

  test('a record is merged once', () => {
    expect(filled('^XA^FD{{a}}{{b}}^FS^XZ', { a: '{{b}}', b: '1' })).toBe('^XA^CI28^FH^FD{{b}}1^FS^PQ1^XZ');
  });

  test('missing values print the default, of the template or of the field', () => {
    const source = '^XA^FD[{{a}}]^FS^FN1"b"^FDbee^FS^FN2"c"^FS^XZ';
    const fields = [{ name: 'a', default: '_' }];
    expect(compileRawZpl(raw(source, fields)).fill({}, 1)).toBe(
      '^XA^CI28^FH^FD[_5F]^FS^FH^FDbee^FS^FH^FD^FS^PQ1^XZ',
    );
  });

  test('numbers used again, and stored formats that ^XF recalls, keep their ^FN', () => {
    expect(filled('^XA^XFR:L.ZPL^FS^FN1"v"^FS^FN1^FS^XZ', { v: 'x' })).toBe(
      '^XA^CI28^XFR:L.ZPL^FS^FN1^FH^FDx^FS^FN1^FH^FDx^FS^PQ1^XZ',
    );
  });

  test('what reads the data after ^FH is told that it is data', () => {
    expect(filled('^XA^BCN,50^FD{{v}}^FS^XZ', { v: '>:A' })).toContain('^FD>0:A^FS');
    expect(filled('^XA^FB300,3^FD{{v}}^FS^XZ', { v: 'a\\&b\nc' })).toContain('^FDa_5C_5C&b_5C&c^FS');
    expect(filled('^XA^FD{{v}}^FS^XZ', { v: 'a\nb' })).toContain('^FDa b^FS');
  });

  test('fields are found', () => {
    const template = raw('^XA^FD{{b}} {{ a }}^FS^FN1"c"^FS^XZ', [{ name: 'z' }]);
    expect(templateFields(template)).toEqual(['z', 'b', 'a', 'c']);
  });

  test('copies replace the quantity of ^PQ and leave the rest', () => {
    expect(filled('^XA^PQ9,0,1,Y^FDx^FS^XZ', {}, 4)).toBe('^XA^CI28^FDx^FS^PQ4,0,1,Y^XZ');
  });
});

test.each([
  ['_', '41'],
  ['A_5', 'Fx'],
  ['__', 'AB'],
  ['_5F', '41'],
])('fixed text %j makes no escape of the value behind it', (fixed, v) => {
  const [, data = ''] = /\^FD(.*)\^FS/.exec(filled(`^XA^FH^FD${fixed}{{v}}^FS^XZ`, { v })) ?? [];
  const read = Array.from(fieldPieces(data, '_'), ({ text, byte }) =>
    byte === undefined ? text : String.fromCharCode(byte),
  );
  expect(read.join('')).toBe(fixed.replace('_5F', '_') + v);
});

test('what stands before ^FO and ^FT counts for the field', () => {
  const block = filled('^XA^FB300,2^FO9,9^FD{{v}}^FS^FO9,9^FD{{v}}^FS^XZ', { v: 'a\nb\\&' });
  expect(block).toBe('^XA^CI28^FB300,2^FO9,9^FH^FDa_5C&b_5C_5C&^FS^FO9,9^FH^FDa b_5C&^FS^PQ1^XZ');
  expect(filled('^XA^BCN,50^FT9,9^FD{{v}}^FO9,9^FD{{v}}^FS^XZ', { v: '>:' })).toBe(
    '^XA^CI28^BCN,50^FT9,9^FH^FD>0:^FO9,9^FH^FD>:^FS^PQ1^XZ',
  );
  expect(filled('^XA^FH!^FO9,9^FDa!41_{{v}}^FS^XZ', { v: '!' })).toBe(
    '^XA^CI28^FH!^FO9,9^FDa!41_!21^FS^PQ1^XZ',
  );
});

describe('refused', () => {
  test.each([
    ['a placeholder outside of field data', '^XA^FO{{x}},1^FDa^FS^XZ'],
    ['a placeholder in a comment', '^XA^FX {{x}}^FS^XZ'],
    ['two formats', '^XA^XZ^XA^XZ'],
    ['no format', '^FDx^FS'],
    ['changed prefixes', '^XA^CC!^XZ'],
    ['changed prefixes of control commands', '~CT+^XA^XZ'],
    ['an immediate command', '^XA~JR^XZ'],
    ['an immediate command after the format', '^XA^XZ~JA'],
    ['a stored format', '^XA^DFR:A.ZPL^FS^XZ'],
    ['numbers that the printer counts', '^XA^FO10,10^A0N,30^SN001,1,Y^FS^XZ'],
    ['data that the printer counts', '^XA^FO10,10^A0N,30^FDA01^SFNNN,1^FS^XZ'],
    ["the printer's directory", '^XA^WDR:*.*^XZ'],
    ['data that the printer sends back', '^XA^FO10,10^A0N,30^FN1"a"^FS^HV1,8,"x"^XZ'],
    ['UTF-16', '^XA^CI29^XZ'],
    ['a remapped encoding', '^XA^CI0,36,21^XZ'],
    ['binary data, which would run over what follows', '^XA^FO9,9^GFB,9999,9999,1,ABCDEFGH^FS^XZ'],
    ['compressed binary data', '^XA^FO9,9^GFC,8,8,1,ABCDEFGH^FS^XZ'],
    ['a value where a QR code has its switches', '^XA^BQN,2,5^FD{{a}}^FS^XZ'],
    ['a numbered one', '^XA^BQN,2,5^FN1"a"^FS^XZ'],
    ['a filter that there is none of', '^XA^FD{{a|shout}}^FS^XZ'],
  ])('%s', (_, source) => {
    expect(() => compileRawZpl(raw(source))).toThrowError(
      expect.objectContaining({ fault: expect.objectContaining({ code: 'template-invalid' }) }),
    );
  });

  test('values that the encoding or the barcode cannot hold, without quoting them', () => {
    const check = (source: string, v: string) => () => compileRawZpl(raw(source)).check({ v }, 7);
    expect(check('^XA^CI27^BQN,2,5^FH^FDQA,_E9{{v}}^FS^XZ', 'plain')).not.toThrow();
    expect(check('^XA^BXN,5,200,,,,#^FD#1{{v}}^FS^XZ', 'plain_1~2')).not.toThrow();
    expect(check('^XA^B2N,50^FD{{v}}^FS^XZ', '1234')).not.toThrow();
    expect(check('^XA^BXN,5,200^BCN,50^FD{{v}}^FS^FD{{v}}^FS^XZ', 'plain_1')).not.toThrow();
    for (const attempt of [
      check('^XA^CI27^BQN,2,5^FH^FDQA,_E9{{v}}^FS^XZ', 'sécret'),
      check('^XA^BXN,5,200^FD{{v}}^FS^XZ', 'secret_1'),
      check('^XA^B2N,50^FD{{v}}^FS^XZ', '12secret34'),
      check('^XA^BXN,5,200,,,,#^FD#1{{v}}^FS^XZ', 'secret#1'),
      check('^XA^B0N,5^FD{{v}}^FS^XZ', 'secret~1'),
      check('^XA^BAN,50^FD{{v}}^FS^XZ', 'SECRET&A'),
      check('^XA^A0N,30^TBN,300,60^FD{{v}}^FS^XZ', 'secret<b>'),
      check('^XA^FC%,{,#^FDat %H {{v}}^FS^XZ', 'secret 5%d'),
      check('^XA^FC,{^FDat %H {{v}}^FS^XZ', 'secret %d'),
    ]) {
      expect(attempt).toThrowError(
        expect.objectContaining({ fault: expect.objectContaining({ code: 'value-invalid', record: 7 }) }),
      );
      expect(attempt).not.toThrowError(/cret/i);
    }
  });

  test.each(['zpl', 'pdf'] as const)('landscape, in %s', async (language) => {
    const job = jobFor(raw('^XA^XZ'), [{}], { orientation: 'landscape', language });
    await expect(openEncoder(job)).rejects.toMatchObject({ fault: { code: 'language-unsupported' } });
  });
});

test('retail barcodes hold the number that was sent, or none', () => {
  const check =
    (data: string, v: string, command = 'BEN,50') =>
    () =>
      compileRawZpl(raw(`^XA^${command}^FD${data}^FS^XZ`)).check({ v }, 7);
  for (const v of ['400638133393', '4006381333931', '']) expect(check('{{v}}', v)).not.toThrow();
  expect(check('40{{v}}', '0638133393')).not.toThrow();
  expect(check('{{v}}', '01234567890', 'BUN,50')).not.toThrow();
  expect(check('{{v}}', '96385074', 'B8N,50')).not.toThrow();
  for (const attempt of [
    check('{{v}}', '4006381333932'),
    check('{{v}}', '40063813'),
    check('{{v}}', '40063813339311'),
    check('40{{v}}', '063813339A'),
    check('{{v}}', '012345678901', 'BUN,50'),
    check('{{v}}', '96385073', 'B8N,50'),
  ]) {
    const reason = expect.objectContaining({ code: 'zpl-retail-digits' });
    const fault = expect.objectContaining({ code: 'value-invalid', record: 7, field: 'v', reason });
    expect(attempt).toThrowError(expect.objectContaining({ fault }));
  }
});

test.each(['QA,{{v}}', 'hm,B{{v}}', 'D0102,03,5,LA,{{v}}', '_51A,{{v}}'])(
  'a QR code has its switches: %s',
  (data) => {
    expect(filled(`^XA^BQN,2,5^FH^FD${data}^FS^XZ`, { v: 'x' })).toContain('x^FS');
  },
);

test('its barcode reads as what was posted', async () => {
  const template = raw('^XA^PW600^LL200^FO40,40^BY2^BCN,100,N,N,N^FD{{v}}^FS^XZ');
  const values = ['ABC-123', 'a>b>:c', '^XZ~JR', 'tilde~_5E'];
  const records = values.map((v) => ({ v }));
  const encoder = await openZpl(jobFor(template, records));
  for (const [index, value] of values.entries()) {
    const found = await readSymbols(await drawZpl(await labelText(encoder, index), 600, 200));
    expect(found.map((symbol) => symbol.text)).toEqual([value]);
  }
});
