/** Labelary's interface: its published examples with another host, its errors, and what a stranger may ask for. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { dotsOf, drawPdf, inkBox, pdfInfo, readSymbols, readText } from '../kit/judges/judges.ts';
import { useService } from '../kit/service/use-service.ts';

const run = promisify(execFile);
const service = useService({
  redis: false,
  // Each request here comes from an address of its own.
  config: { labelary: { on: true }, trustProxy: ['127.0.0.1'] },
});

let addresses = 0;
const forwarded = () => `198.51.${Math.floor(addresses / 250)}.${(addresses++ % 250) + 1}`;

const HELLO = '^xa^cfa,50^fo100,100^fdHello World^fs^xz';
const FOUR_BY_SIX = '/v1/printers/8dpmm/labels/4x6';
const barcode = (text: string) => `^XA^FO60,60^BY3^BCN,100,N,N,N^FD${text}^FS^XZ`;
const BATCH = ['FIRST-1', 'SECOND-2', 'THIRD-3', 'FOURTH-4', 'FIFTH-5', 'SIXTH-6', 'SEVENTH-7'];

async function ask(
  path: string,
  zpl: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
  tries = 5,
): Promise<Response> {
  const answer = await fetch(`${service.url}/labelary${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-forwarded-for': forwarded(),
      ...headers,
    },
    body: zpl,
    signal: AbortSignal.timeout(60_000),
  });
  // A busy machine does not draw each label in the time that a stranger has.
  const late = !answer.ok && /takes longer than|are being drawn/.test(await answer.clone().text());
  return late && tries > 1 ? await ask(path, zpl, headers, tries - 1) : answer;
}

const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer());
/** Its dots are pictures, whose edges poppler blurs: at twice the dots it shows each. */
const READ_AT = 406;
const textsOn = async (picture: Uint8Array) =>
  (await readSymbols(picture, { maxNumberOfSymbols: 50 })).map(({ text }) => text).sort();

describe('the examples of labelary.com/service.html, with the host changed', () => {
  let file = '';
  beforeAll(async () => {
    file = join(tmpdir(), `labelary-${process.pid}.zpl`);
    await writeFile(file, HELLO);
  });

  async function curl(...args: string[]): Promise<Buffer> {
    const changed = args.map((arg) => arg.replace('http://api.labelary.com', `${service.url}/labelary`));
    const said = [
      '--silent',
      '--show-error',
      '--fail',
      '--max-time',
      '60',
      '--header',
      `X-Forwarded-For: ${forwarded()}`,
    ];
    const { stdout } = await run('curl', [...said, ...changed], { encoding: 'buffer' });
    return stdout;
  }
  const address = 'http://api.labelary.com/v1/printers/8dpmm/labels/4x6/0/';

  test.each<[string, () => string[]]>([
    ['GET', () => ['--get', address, '--data-urlencode', HELLO]],
    ['GET with the ZPL in the path', () => [`${address}${HELLO.replace(' ', '%20')}`]],
    ['POST', () => ['--request', 'POST', address, '--data', HELLO]],
    ['POST of a form', () => ['--request', 'POST', address, '--form', `file=@${file}`]],
  ])('%s', async (_, args) => {
    const png = await curl(...args());
    const { width, height } = await dotsOf(png);
    expect([width, height]).toEqual([812, 1218]);
    expect(await readText(png)).toBe('Hello World');
  });

  test('a form, answered as a PDF', async () => {
    const accept = ['--header', 'Accept: application/pdf'];
    const pdf = await curl('--request', 'POST', address, '--form', `file=@${file}`, ...accept);
    expect(await pdfInfo(pdf)).toContain('288 x 432 pts');
    expect(await readText(await drawPdf(pdf, 203))).toBe('Hello World');
  });

  test('the second label of two, at 6 dots a mm', async () => {
    const two = '^xa^cfa,50^fo100,100^fdFirst Label^fs^xz^xa^cfa,50^fo100,100^fdSecond Label^fs^xz';
    const path = `http://api.labelary.com/v1/printers/6dpmm/labels/4x6/1/${two.replaceAll(' ', '%20')}`;
    const png = await curl(path);
    const { width, height } = await dotsOf(png);
    expect([width, height]).toEqual([608, 912]);
    expect(await readText(png)).toBe('Second Label');
  });

  test('what a GET prints stands in no log', () => {
    expect(service.log).toContain('/labelary/v1/printers/:density');
    expect(service.log).not.toMatch(/hello|second.label/i);
  });
});

test('one of several labels, and how many there are; copies count', async () => {
  const zpl = BATCH.slice(0, 2).map(barcode).join('') + barcode('COPIES').replace('^XZ', '^PQ3^XZ');
  for (const [index, text] of [...BATCH.slice(0, 2), 'COPIES', 'COPIES', 'COPIES'].entries()) {
    const answer = await ask(`${FOUR_BY_SIX}/${index}/`, zpl);
    expect([answer.headers.get('content-type'), answer.headers.get('x-total-count')]).toEqual([
      'image/png',
      '5',
    ]);
    expect(await textsOn(await bytesOf(answer))).toEqual([text]);
  }
  const beyond = await ask(`${FOUR_BY_SIX}/5/`, zpl);
  expect([beyond.status, beyond.headers.get('x-total-count')]).toEqual([404, '5']);
  expect(await beyond.text()).toBe('ERROR: label 5 was requested but the ZPL generated 5, counted from 0');
});

test('labels that count differ, and bytes come as they are sent', async () => {
  const zpl = '^XA^FO60,60^BY2^BCN,100,N,N,N^SNNO008,1,Y^FS^PQ3^XZ';
  const texts = [];
  for (const index of [0, 1, 2])
    texts.push(...(await textsOn(await bytesOf(await ask(`${FOUR_BY_SIX}/${index}`, zpl)))));
  expect(texts).toEqual(['NO008', 'NO009', 'NO010']);
  // A graphic of 16 × 16 black dots in binary.
  const head = Buffer.from('^XA^FO100,100^GFB,32,32,2,');
  const answer = await ask(
    `${FOUR_BY_SIX}/0/`,
    Buffer.concat([head, Buffer.alloc(32, 0xff), Buffer.from('^FS^XZ')]),
  );
  expect(inkBox(await dotsOf(await bytesOf(answer)))).toEqual({
    left: 100,
    top: 100,
    right: 116,
    bottom: 116,
  });
});

test('turned clockwise', async () => {
  const zpl = '^XA^FO0,0^GB100,20,20^FS^XZ';
  const boxes = [];
  for (const turn of ['0', '90', '180', '270']) {
    const dots = await dotsOf(await bytesOf(await ask(`${FOUR_BY_SIX}/0/`, zpl, { 'x-rotation': turn })));
    boxes.push([dots.width, inkBox(dots)]);
  }
  expect(boxes).toEqual([
    [812, { left: 0, top: 0, right: 100, bottom: 20 }],
    [1218, { left: 1198, top: 0, right: 1218, bottom: 100 }],
    [812, { left: 712, top: 1198, right: 812, bottom: 1218 }],
    [1218, { left: 0, top: 712, right: 20, bottom: 812 }],
  ]);
});

describe('a PDF', () => {
  const zpl = BATCH.map(barcode).join('\n');
  const pdf = { accept: 'application/pdf' };

  test('of all labels, each a page', async () => {
    for (const path of [FOUR_BY_SIX, `${FOUR_BY_SIX}/`]) {
      const answer = await ask(path, zpl, pdf);
      expect([answer.headers.get('content-type'), answer.headers.get('x-total-count')]).toEqual([
        'application/pdf',
        '7',
      ]);
      const file = await bytesOf(answer);
      expect(await pdfInfo(file)).toMatch(/^Pages: +7$/m);
      expect(await textsOn(await drawPdf(file, READ_AT, 5))).toEqual(['FIFTH-5']);
    }
  });

  test('of one label', async () => {
    const file = await bytesOf(await ask(`${FOUR_BY_SIX}/2/`, zpl, pdf));
    expect(await pdfInfo(file)).toMatch(/^Pages: +1$/m);
    expect(await textsOn(await drawPdf(file, READ_AT))).toEqual(['THIRD-3']);
  });

  test('of sheets, where the labels lie as asked, with borders', async () => {
    const headers = { ...pdf, 'x-page-size': 'A4', 'x-page-layout': '2x3', 'x-label-border': 'Solid' };
    const file = await bytesOf(await ask('/v1/printers/8dpmm/labels/3x2/', zpl, headers));
    expect(await pdfInfo(file, 2)).toMatch(/Pages: +2[\s\S]*Page +2 size: +595.2\d* x 841.8\d* pts \(A4\)/);
    const sheet = await drawPdf(file, READ_AT);
    expect(await textsOn(sheet)).toEqual(BATCH.slice(0, 6).sort());
    expect(await textsOn(await drawPdf(file, READ_AT, 2))).toEqual([BATCH[6]]);
    // What is left of the page is between and around the labels alike: (210 − 2 × 76.2) / 3 and (297 − 3 × 50.8) / 4 mm.
    const ink = inkBox(await dotsOf(sheet));
    const mm = (dots: number) => (dots * 25.4) / READ_AT;
    expect(mm(ink.left)).toBeCloseTo(19.2, 0);
    expect(mm(ink.top)).toBeCloseTo(36.15, 0);
    expect(mm(ink.right)).toBeCloseTo(210 - 19.2, 0);
    expect(mm(ink.bottom)).toBeCloseTo(297 - 36.15, 0);
  });

  test.each([
    ['Left', 'Top', 0, 0],
    ['Center', 'Center', 57.15, 114.3],
    ['Right', 'Bottom', 114.3, 228.6],
  ])('of a sheet, %s and %s', async (across, down, left, top) => {
    const headers = {
      ...{ ...pdf, 'x-page-size': 'Letter', 'x-label-border': 'Dashed' },
      ...{ 'x-page-align': across, 'x-page-vertical-align': down },
    };
    const file = await bytesOf(await ask('/v1/printers/8dpmm/labels/4x2/0/', zpl, headers));
    const ink = inkBox(await dotsOf(await drawPdf(file, 254)));
    expect(ink.left / 10).toBeCloseTo(left, 0);
    expect(ink.top / 10).toBeCloseTo(top, 0);
  });

  test('of a page in landscape, with a label that is turned', async () => {
    const headers = {
      ...{ ...pdf, 'x-page-size': 'a6', 'x-page-orientation': 'landscape', 'x-rotation': '90' },
      ...{ 'x-page-align': 'left', 'x-page-vertical-align': 'top' },
    };
    const tall = await ask('/v1/printers/8dpmm/labels/4x5.5/0/', '^XA^FO0,0^GB20,20,20^FS^XZ', headers);
    const file = await bytesOf(tall);
    expect(await pdfInfo(file)).toMatch(/419.5\d* x 297.6\d* pts/);
    const ink = inkBox(await dotsOf(await drawPdf(file, 254)));
    expect(ink.right / 10).toBeCloseTo(5.5 * 25.4, 0);
    expect(ink.top).toBeLessThanOrEqual(1);
  });
});

test('JSON: where fields are, and what they say', async () => {
  const zpl =
    '^XA^CI28^LH10,0^FT50,50^A0,50^FDField 1^FS^FO5,7^FH^FDKaiserstra_C3_9Fe^FS^XZ^XA^LH0,0^FO1,2^BCN,50^FDCODE^FS^XZ';
  const json = { accept: 'application/json' };
  const all = await ask(FOUR_BY_SIX, zpl, json);
  expect([all.headers.get('content-type'), all.headers.get('x-total-count')]).toEqual([
    'application/json',
    '2',
  ]);
  const second = { fields: [{ x: 1, y: 2, data: 'CODE' }] };
  const first = {
    fields: [
      { x: 60, y: 50, data: 'Field 1' },
      { x: 15, y: 7, data: 'Kaiserstraße' },
    ],
  };
  expect(await all.json()).toEqual({ labels: [first, second] });
  expect(await (await ask(`${FOUR_BY_SIX}/1`, zpl, json)).json()).toEqual({ labels: [second] });
});

describe('errors are a status and a line of text', () => {
  const many = Array.from({ length: 51 }, () => '^XA^FO1,1^GB9,9,9^FS^XZ').join('');
  test.each<[number, string | RegExp, string, string, Record<string, string>?]>([
    [400, /print density.*24dpmm/, '/v1/printers/9dpmm/labels/4x6/0/', HELLO],
    [400, /label size.*at most 15/, '/v1/printers/8dpmm/labels/16x6/0/', HELLO],
    [400, /label size/, '/v1/printers/8dpmm/labels/0x6/0/', HELLO],
    [400, /label size/, '/v1/printers/8dpmm/labels/x/0/', HELLO],
    [400, /label index/, `${FOUR_BY_SIX}/first/`, HELLO],
    [400, /label index.*a picture is of one label/, FOUR_BY_SIX, HELLO],
    [400, /X-Rotation.*270/, `${FOUR_BY_SIX}/0/`, HELLO, { 'x-rotation': '45' }],
    [406, /Accept/, `${FOUR_BY_SIX}/0/`, HELLO, { accept: 'application/epl' }],
    [404, 'label 0 was requested but the ZPL generated no labels', `${FOUR_BY_SIX}/0/`, 'Hello World'],
    [
      404,
      'label 0 was requested but the ZPL generated no labels',
      FOUR_BY_SIX,
      '',
      { accept: 'application/pdf' },
    ],
    [413, 'the ZPL has more than 50 labels', `${FOUR_BY_SIX}/0/`, many],
    [413, 'the ZPL has more than 50 labels', `${FOUR_BY_SIX}/0/`, HELLO.replace('^xz', '^pq99999999^xz')],
    [413, /body.*1048576/, `${FOUR_BY_SIX}/0/`, 'x'.repeat(1024 * 1024 + 1)],
    [400, /dots/, '/v1/printers/24dpmm/labels/15x15/0/', HELLO],
    [400, /GRF.*does not exist/, `${FOUR_BY_SIX}/0/`, '^XA^FO1,1^XGR:NONE.GRF^FS^XZ'],
    [400, /form/, `${FOUR_BY_SIX}/0/`, HELLO, { 'content-type': 'multipart/form-data' }],
    [400, /form/, `${FOUR_BY_SIX}/0/`, HELLO, { 'content-type': 'multipart/form-data; boundary=x' }],
    [
      400,
      /at most 20 parts/,
      `${FOUR_BY_SIX}/0/`,
      '--x\r\n'.repeat(21),
      { 'content-type': 'multipart/form-data; boundary=x' },
    ],
    [400, /X-Page-Layout/i, FOUR_BY_SIX, HELLO, { accept: 'application/pdf', 'x-page-layout': '0x9' }],
    [400, /x-page-size.*a6/, FOUR_BY_SIX, HELLO, { accept: 'application/pdf', 'x-page-size': 'A0' }],
    [
      400,
      /labels fit/,
      FOUR_BY_SIX,
      HELLO,
      { accept: 'application/pdf', 'x-page-size': 'A6', 'x-page-layout': '2x1' },
    ],
  ])('%i: %s', async (status, said, path, zpl, headers) => {
    const answer = await ask(path, zpl, headers);
    const text = await answer.text();
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      status,
      'text/plain; charset=utf-8',
    ]);
    expect(text).toMatch(/^ERROR: /);
    expect(text.slice('ERROR: '.length)).toMatch(typeof said === 'string' ? new RegExp(`^${said}$`) : said);
  });

  test('a GET whose address cannot be decoded', async () => {
    const headers = { 'x-forwarded-for': forwarded() };
    const answer = await fetch(`${service.url}/labelary${FOUR_BY_SIX}/0/?%FF`, { headers });
    expect([answer.status, await answer.text()]).toEqual([
      400,
      'ERROR: the ZPL in the address is not as expected: URL-encoded UTF-8',
    ]);
  });
});

test('no other site’s page may read an answer', async () => {
  const answer = await ask(`${FOUR_BY_SIX}/0/`, HELLO, { origin: 'https://elsewhere.test' });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('access-control-allow-origin')).toBeNull();
});

test('the interface’s description has it', async () => {
  const { body } = await service.call('/openapi.json');
  const [one, all] = ['{index}/', ''].map(
    (rest) => `/labelary/v1/printers/{dpmm}dpmm/labels/{width}x{height}/${rest}`,
  );
  expect(body).toMatchObject({ paths: { [one ?? '']: {}, [all ?? '']: {} } });
});
