/** The npm package `ipp` reads what we write, and we read what it writes; on well-formed messages only. */
import { parse, serialize } from 'ipp';
import { expect, test } from 'vitest';
import { decodeIpp } from '../../drivers/ipp/decode.ts';
import { encodeIpp } from '../../drivers/ipp/encode.ts';
import { PRINTER_REPLY } from './messages.ts';

test('a printer’s attributes, read by ipp', () => {
  // Left out: what ipp gets wrong (dateTime is a month late) or only logs (out-of-band).
  const groups = PRINTER_REPLY.groups.map((group) => ({
    ...group,
    attributes: group.attributes.filter(({ values }) =>
      values.every(({ tag }) => tag !== 'dateTime' && tag !== 'unknown'),
    ),
  }));
  const { 'printer-attributes-tag': printer, ...rest } = parse(encodeIpp({ ...PRINTER_REPLY, groups }));
  expect(rest).toMatchObject({ version: '2.0', statusCode: 'successful-ok', id: 7 });
  expect(printer).toEqual({
    'printer-uri-supported': 'ipp://10.0.0.7/ipp/print',
    'printer-name': 'Étiquettes 3',
    'printer-info': 'de\u001eLabor',
    'printer-state': 'idle',
    'printer-state-reasons': ['media-empty-error', 'cover-open-warning'],
    'printer-is-accepting-jobs': true,
    'printer-resolution-default': [203, 203, 'dpi'],
    'copies-supported': [1, 999],
    'document-format-supported': 'application/pdf',
    'printer-input-tray': 'type=other;',
    'media-col-default': {
      'media-size': { 'x-dimension': 10160, 'y-dimension': 15240 },
      'media-tracking': 'gap',
    },
  });
});

test('a print job, written by ipp', () => {
  const bytes = serialize({
    version: '2.0',
    operation: 'Print-Job',
    id: 99,
    'operation-attributes-tag': {
      'attributes-charset': 'utf-8',
      'attributes-natural-language': 'en',
      'printer-uri': 'ipp://10.0.0.7/ipp/print',
      'job-name': 'Étiquettes',
      'document-format': 'application/pdf',
      'last-document': true,
    },
    'job-attributes-tag': {
      copies: 3,
      'page-ranges': [1, 5],
      'printer-resolution': [203, 203, 'dpi'],
      'orientation-requested': 'landscape',
      sides: 'one-sided',
    },
    data: Buffer.from('%PDF'),
  });
  expect(decodeIpp(bytes)).toEqual({
    version: { major: 2, minor: 0 },
    code: 2,
    requestId: 99,
    groups: [
      {
        tag: 'operation',
        attributes: [
          { name: 'attributes-charset', values: [{ tag: 'charset', value: 'utf-8' }] },
          { name: 'attributes-natural-language', values: [{ tag: 'naturalLanguage', value: 'en' }] },
          { name: 'printer-uri', values: [{ tag: 'uri', value: 'ipp://10.0.0.7/ipp/print' }] },
          { name: 'job-name', values: [{ tag: 'name', value: 'Étiquettes' }] },
          { name: 'document-format', values: [{ tag: 'mimeMediaType', value: 'application/pdf' }] },
          { name: 'last-document', values: [{ tag: 'boolean', value: true }] },
        ],
      },
      {
        tag: 'job',
        attributes: [
          { name: 'copies', values: [{ tag: 'integer', value: 3 }] },
          // ipp takes a pair for two numbers where only ranges are allowed; each is a value.
          { name: 'page-ranges', values: expect.anything() },
          { name: 'printer-resolution', values: expect.anything() },
          { name: 'orientation-requested', values: [{ tag: 'enum', value: 4 }] },
          { name: 'sides', values: [{ tag: 'keyword', value: 'one-sided' }] },
        ],
      },
    ],
    data: Buffer.from('%PDF'),
  });
});
