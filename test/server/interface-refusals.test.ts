/**
 * What the interface document (`shared/interface.md`) refuses: one case for each row and rule of it, with the status
 * and the problem code. `rule` says which.
 */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll } from 'vitest';
import { FORMAT_203, FORMAT_PDF, PRINTER } from '../kit/service/harness.ts';
import { GLOBEX_PRINTER, InterfaceSite, LEFT, PDF_ONLY } from '../kit/service/interface-site.ts';
import { type Refusal, testRefusals } from '../kit/service/refusals.ts';

const site = new InterfaceSite();
beforeAll(() => site.start());
afterAll(() => site.stop());

function spacedRoute(
  field: 'printerId' | 'printer' | 'format' | 'idT',
  spaced: (text: string) => string,
): Record<string, unknown> {
  const known = { printerId: PRINTER, printer: 'Zebra', format: FORMAT_203.name, idT: site.ids.template };
  const wrong = { [field]: spaced(known[field]) };
  // By name alone: an ID that is known goes first.
  return field === 'printer' ? { printerId: undefined, ...wrong } : wrong;
}

const BAD_VALUES = Array.from({ length: 1_900 }, (_, index) => [`f${index}`, []] as const);

const PAYLOAD_CASES: Refusal[] = [
  {
    rule: 'Common headers: Content-Type is application/json',
    request: () => ({ raw: '{}', headers: { 'content-type': 'text/plain' } }),
    status: 400,
    code: 'content-type-unsupported',
  },
  {
    rule: 'a body is needed',
    request: () => ({ method: 'POST', body: undefined }),
    status: 400,
    code: 'body-missing',
  },
  { rule: 'an empty body is none', request: () => ({ raw: ' ' }), status: 400, code: 'body-missing' },
  {
    rule: 'a field that is there twice',
    request: () => ({ raw: JSON.stringify(site.payload()).replace('}', ',"sku":"A-2"}') }),
    status: 400,
    code: 'json-invalid',
  },
  {
    rule: 'a body that is compressed',
    request: () => ({
      raw: new Uint8Array(gzipSync(JSON.stringify(site.payload()))),
      headers: { 'content-encoding': 'gzip' },
    }),
    status: 400,
    code: 'content-type-unsupported',
  },
  {
    rule: 'Errors 400: not JSON',
    request: () => ({ raw: '{"idT":' }),
    status: 400,
    code: 'json-invalid',
    says: 'at character 7',
  },
  {
    rule: 'Errors 400: a number that JSON does not have',
    request: () => ({ raw: '{"numberCopies":NaN}' }),
    status: 400,
    code: 'json-invalid',
    says: 'at character 16',
  },
  {
    rule: 'Errors 400: not UTF-8',
    request: () => ({ raw: new Uint8Array(Buffer.from('{"idT":"\xfc"}', 'latin1')) }),
    status: 400,
    code: 'json-invalid',
  },
  {
    rule: 'the payload is an object',
    request: () => ({ body: [] }),
    status: 400,
    code: 'payload-invalid',
    at: [''],
    says: '"expected an object"',
  },
  {
    rule: 'Limits 3: a body over the limit',
    request: () => ({ body: site.payload({ data: [{ sku: 'x'.repeat(70_000) }] }) }),
    status: 413,
    code: 'body-too-large',
  },
  {
    rule: 'idT is required',
    request: () => ({ body: site.payload({ idT: undefined }) }),
    status: 400,
    code: 'payload-invalid',
    at: ['/idT'],
  },
  {
    rule: 'idT is a string',
    request: () => ({ body: site.payload({ idT: 5 }) }),
    status: 400,
    code: 'payload-invalid',
    at: ['/idT'],
  },
  {
    rule: 'printerId or printer is required',
    request: () => ({ body: site.payload({ printerId: undefined }) }),
    status: 400,
    code: 'payload-invalid',
    at: ['/printerId'],
  },
  {
    rule: 'orientation is portrait or landscape',
    request: () => ({ body: site.payload({ orientation: 'upside-down' }) }),
    status: 400,
    code: 'payload-invalid',
    at: ['/orientation'],
  },
  ...[0, -1, 1.5, '2', null].map((numberCopies) => ({
    rule: `Limits 2: copies are positive whole numbers, not ${JSON.stringify(numberCopies)}`,
    request: () => ({ body: site.payload({ numberCopies }) }),
    status: 400,
    code: 'payload-invalid',
    at: ['/numberCopies'],
  })),
  {
    rule: 'an unknown field is named, so that a misspelt one is noticed',
    request: () => ({ body: site.payload({ numberCopy: 3, printr: 'x' }) }),
    status: 400,
    code: 'payload-invalid',
    at: ['/numberCopy', '/printr'],
  },
  {
    rule: 'data is an array',
    request: () => ({ body: site.payload({ data: {} }) }),
    status: 400,
    code: 'payload-invalid',
    at: ['/data'],
  },
  {
    rule: 'data has a record',
    request: () => ({ body: site.payload({ data: [] }) }),
    status: 400,
    code: 'payload-invalid',
    at: ['/data'],
  },
  {
    rule: 'a record is an object',
    request: () => ({ body: site.payload({ data: [{ sku: 'a' }, 'b'] }) }),
    status: 400,
    code: 'payload-invalid',
    at: ['/data/1'],
    says: '/data/1: expected an object',
  },
  {
    rule: 'values are not nested',
    request: () => ({ body: site.payload({ data: [{ sku: { a: 1 } }, { 'a/b~c': [1] }] }) }),
    status: 400,
    code: 'payload-invalid',
    at: ['/data/0/sku', '/data/1/a~1b~0c'],
  },
  {
    rule: 'a number that would lose digits is refused, not printed wrong',
    request: () => ({ raw: JSON.stringify(site.payload()).replace('"A-1"', '340123450000000018123') }),
    status: 400,
    code: 'payload-invalid',
    at: ['/data/0/sku'],
  },
  {
    rule: 'a number that is too small for a double is refused, not printed as 0',
    request: () => ({ raw: JSON.stringify(site.payload()).replace('"A-1"', '1e-400') }),
    status: 400,
    code: 'payload-invalid',
    at: ['/data/0/sku'],
  },
  {
    rule: 'more bad values than anybody counts are refused as one is',
    request: () => ({ body: site.payload({ data: [Object.fromEntries(BAD_VALUES)] }) }),
    status: 400,
    code: 'payload-invalid',
    at: ['/data/0'],
  },
  {
    rule: 'of many bad records the first are named',
    request: () => ({
      body: site.payload({
        data: Array.from({ length: 5 }, () => Object.fromEntries(BAD_VALUES.slice(0, 500))),
      }),
    }),
    status: 400,
    code: 'payload-invalid',
    at: BAD_VALUES.slice(0, 100).map(([name]) => `/data/0/${name}`),
  },
  {
    rule: 'unknown fields without number are refused, and the first are named',
    request: () => ({ body: { ...site.payload(), ...Object.fromEntries(BAD_VALUES) } }),
    status: 400,
    code: 'payload-invalid',
    at: BAD_VALUES.slice(0, 100).map(([name]) => `/${name}`),
  },
  ...['__proto__', '_\\u005fproto__', '__\\u0070roto__'].map((key) => ({
    rule: `a field named ${key} is refused, not left out in silence`,
    request: () => ({ raw: JSON.stringify(site.payload()).replace('"sku"', `"${key}"`) }),
    status: 400,
    code: 'json-invalid',
  })),
  {
    rule: 'Limits 3: records in data',
    request: () => ({ body: site.payload({ data: Array.from({ length: 51 }, () => ({ sku: 'a' })) }) }),
    status: 400,
    code: 'payload-invalid',
    at: ['/data'],
  },
  {
    rule: 'Limits 3: labels of a job',
    request: () => ({ body: site.payload({ numberCopies: 501, data: [{}, {}] }) }),
    status: 400,
    code: 'labels-limit',
    at: ['/numberCopies'],
  },
  {
    rule: 'Errors 404: no such template',
    request: () => ({ body: site.payload({ idT: 'no-such-template' }) }),
    status: 404,
    code: 'template-not-found',
  },
  {
    rule: 'Errors 404: a template ID with characters that no ID has',
    request: () => ({ body: site.payload({ idT: 'a\0b' }) }),
    status: 404,
    code: 'template-not-found',
  },
  {
    rule: "Errors 404: a template's name, which is told the ID",
    request: () => ({ body: site.payload({ idT: 'Shelf label' }) }),
    status: 404,
    code: 'template-not-found',
    says: () => `has ${site.ids.template}`,
  },
  {
    rule: "Errors 404: the name of another tenant's template",
    request: () => ({ body: site.payload({ idT: 'Of globex alone' }) }),
    status: 404,
    code: 'template-not-found',
    says: 'the tenant has no template',
  },
  {
    rule: "Errors 404: another tenant's template",
    request: () => ({ body: site.payload({ idT: site.ids.other }) }),
    status: 404,
    code: 'template-not-found',
  },
  {
    rule: 'the payload comes before the template',
    request: () => ({ body: site.payload({ idT: 'no-such-template', numberCopies: 0 }) }),
    status: 400,
    code: 'payload-invalid',
  },
  {
    rule: 'the template comes before the printer',
    request: () => ({ body: site.payload({ idT: 'no-such-template', printerId: 'nowhere' }) }),
    status: 404,
    code: 'template-not-found',
  },
  {
    rule: 'routing: an unknown printer ID',
    request: () => ({ body: site.payload({ printerId: 'serial-111111111112' }) }),
    status: 400,
    code: 'printer-unknown',
    at: ['/printerId'],
    says: 'no printer has this ID; there are \\"Twin\\" (serial-111111111111), ',
    not: 'Globex only',
  },
  {
    rule: 'routing: an unknown printer name',
    request: () => ({ body: site.payload({ printerId: undefined, printer: 'Nowhere' }) }),
    status: 400,
    code: 'printer-unknown',
    at: ['/printer'],
  },
  {
    rule: 'routing: a name is matched exactly, not in part',
    request: () => ({ body: site.payload({ printerId: undefined, printer: 'Zebr' }) }),
    status: 400,
    code: 'printer-unknown',
  },
  {
    rule: 'routing: a name is matched exactly, capitals too',
    request: () => ({ body: site.payload({ printerId: undefined, printer: 'zebra' }) }),
    status: 400,
    code: 'printer-unknown',
    says: `there are \\"Zebra\\" (${PRINTER}), `,
    not: 'Left behind',
  },
  ...(['printerId', 'printer', 'format', 'idT'] as const).flatMap((field) =>
    [(text: string) => `${text} `, (text: string) => ` ${text}`, (text: string) => `${text}\t`].map(
      (spaced) => ({
        rule: `${field} is taken as it is written: ${JSON.stringify(spaced('name'))} is another`,
        request: () => ({ body: site.payload(spacedRoute(field, spaced)) }),
        status: field === 'idT' ? 404 : 400,
        code:
          field === 'idT' ? 'template-not-found' : field === 'format' ? 'format-unknown' : 'printer-unknown',
      }),
    ),
  ),
  {
    rule: 'routing: a name with a NUL is unknown, not an error of the database',
    request: () => ({ body: site.payload({ printerId: 'a\0b', printer: 'a\0b' }) }),
    status: 400,
    code: 'printer-unknown',
  },
  {
    rule: 'routing: a name that several printers have',
    request: () => ({ body: site.payload({ printerId: undefined, printer: 'Twin' }) }),
    status: 400,
    code: 'printer-ambiguous',
    at: ['/printer'],
  },
  {
    rule: 'agent assignment: a printer that no agent has any more',
    request: () => ({ body: site.payload({ printerId: LEFT }) }),
    status: 400,
    code: 'printer-unassigned',
    at: ['/printerId'],
  },
  {
    rule: "routing: another tenant's printer is unknown",
    request: () => ({ body: site.payload({ printerId: GLOBEX_PRINTER }) }),
    status: 400,
    code: 'printer-unknown',
  },
  {
    rule: 'format: neither a name nor an ID of the printer',
    request: () => ({ body: site.payload({ format: 'A4' }) }),
    status: 400,
    code: 'format-unknown',
    at: ['/format'],
  },
  {
    rule: 'format: a ZPL template in a PDF format',
    request: () => ({ body: site.payload({ idT: site.ids.raw, format: FORMAT_PDF.id }) }),
    status: 400,
    code: 'format-incompatible',
    at: ['/format'],
  },
  {
    rule: 'format: a ZPL template on a printer without ZPL',
    request: () => ({ body: site.payload({ idT: site.ids.raw, printerId: PDF_ONLY }) }),
    status: 400,
    code: 'format-incompatible',
  },
  {
    rule: 'Errors 403: the quota, which comes last',
    request: () => ({
      token: site.tokens.broke,
      tenant: 'broke',
      body: site.payload({ idT: site.ids.broke, numberCopies: 4 }),
    }),
    status: 403,
    code: 'quota-exceeded',
  },
  {
    rule: 'the printer comes before the quota',
    request: () => ({
      token: site.tokens.broke,
      tenant: 'broke',
      body: site.payload({ idT: site.ids.broke, numberCopies: 4, printerId: 'nowhere' }),
    }),
    status: 400,
    code: 'printer-unknown',
  },
];

testRefusals(site, PAYLOAD_CASES);
