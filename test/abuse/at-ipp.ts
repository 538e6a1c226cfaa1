/** What may come to printers that the service offers by IPP: from callers with a key, from who has none, and from who guesses. */
import { randomBytes } from 'node:crypto';
import type { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { encodeIpp } from '../../drivers/ipp/encode.ts';
import type { IppAttribute } from '../../drivers/ipp/message.ts';
import { type OperationName, STATUS_CODES, type StatusName, statusName } from '../../drivers/ipp/names.ts';
import { rasterOf, rasterPage, row } from '../kit/documents/raster.ts';
import { ippRequest } from '../kit/wire/ipp-request.ts';
import { type Attack, honestly, loops, only } from './callers.ts';
import type { Reply, Target } from './target.ts';

const MB = 1024 * 1024;
/** Bytes of the longest document, and of attributes. */
const DOCUMENT = 3.75 * MB;
const ATTRIBUTES = 64 * 1024;

type Asked = {
  operation: OperationName;
  more?: IppAttribute[];
  job?: IppAttribute[];
  /** Bytes behind the last attribute. */
  raw?: Buffer;
  document?: Uint8Array;
};
type Printer = { path: string; key: string };

function basic(key: string, user = 'maria'): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}` };
}

function bodyOf(
  { operation, more = [], job = [], raw = Buffer.alloc(0), document = Buffer.alloc(0) }: Asked,
  path: string,
): Buffer {
  const request = ippRequest(operation, `ipp://127.0.0.1:80${path}`, ...more);
  const groups =
    job.length === 0 ? request.groups : [...request.groups, { tag: 'job', attributes: job } as const];
  const attributes = encodeIpp({ ...request, groups });
  // The last byte ends the attributes.
  return Buffer.concat([attributes.subarray(0, -1), raw, attributes.subarray(-1), document]);
}

/** The status of IPP where HTTP's is 200, with its name. */
async function asked(target: Target, { path, key }: Printer, body: Uint8Array, agent: Agent): Promise<Reply> {
  const headers = { 'content-type': 'application/ipp', ...(key !== '' && basic(key)) };
  const reply = await target.send({ path, headers, body, agent });
  if (reply.status !== 200) return reply;
  const code = (reply.text.charCodeAt(2) << 8) | reply.text.charCodeAt(3);
  return code < 0x100 ? reply : { status: code, text: `"code":"${statusName(code)}"` };
}

const codes = (...names: StatusName[]) => names.map((name) => STATUS_CODES[name]);
/** More than a tenant may ask for in a second, or has room for. */
const TOO_MANY = [503, '500 overloaded', ...codes('server-error-busy', 'server-error-too-many-jobs')];

/** The same request again and again, while an honest caller works. */
function requests(
  name: string,
  callers: number,
  make: (share: number) => Asked,
  expected: readonly (number | string)[],
  { withKey = true }: { withKey?: boolean } = {},
): Attack {
  return {
    name: `IPP: ${name}`,
    run: async (target, { seconds, share, patience }) => {
      const printer = await target.offered();
      const body = bodyOf(make(share), printer.path);
      const flood = loops(Math.ceil(callers * share), seconds, (agent) =>
        asked(target, withKey ? printer : { ...printer, key: '' }, body, agent),
      );
      const wrong = await honestly(target, flood, patience);
      return [...wrong, ...only(await flood, ...expected, ...TOO_MANY)];
    },
  };
}

const keyword = (name: string, value: string): IppAttribute => ({
  name,
  values: [{ tag: 'keyword', value }],
});
const tiny = (count: number): IppAttribute[] =>
  Array.from({ length: count }, (_, at) => ({ name: `a${at}`, values: [{ tag: 'integer', value: at }] }));

/** Collections in each other, RFC 8010, 3.1.7, which the encoder of our own does not write. */
function nested(depth: number): Buffer {
  const begun = '\x34\x00\x01c\x00\x00';
  const inside = '\x4a\x00\x00\x00\x01c\x34\x00\x00\x00\x00';
  return Buffer.from(begun + inside.repeat(depth) + '\x37\x00\x00\x00\x00'.repeat(depth + 1), 'latin1');
}

const print = (document: Uint8Array, ...more: IppAttribute[]): Asked => ({
  ...{ operation: 'Print-Job', document, more },
});
const raster = (document: Uint8Array): Asked =>
  print(document, { name: 'document-format', values: [{ tag: 'mimeMediaType', value: 'image/pwg-raster' }] });

/** As slow as a body may be, or slower, on so many connections. */
function slow(name: string, headers: (printer: Printer) => object, callers: number): Attack {
  return {
    name: `IPP: ${name}`,
    run: async (target, { seconds, share, patience }) => {
      const printer = await target.offered();
      const head = Object.entries({
        ...{ host: 'x', 'content-type': 'application/ipp', 'content-length': DOCUMENT },
        ...headers(printer),
      });
      const lines = head.map(([header, value]) => `${header}: ${value}\r\n`).join('');
      const begun = bodyOf({ operation: 'Print-Job' }, printer.path);
      for (let caller = 0; caller < callers * share; caller++) {
        // Some are in their attributes, others in the document.
        const part = begun.subarray(0, caller % 2 === 0 ? 40 : begun.length);
        void target.dial(Buffer.concat([Buffer.from(`POST ${printer.path} HTTP/1.1\r\n${lines}\r\n`), part]));
      }
      const drip = setInterval(() => target.drip(), 200);
      try {
        return await honestly(target, pause(seconds * 1000), patience);
      } finally {
        clearInterval(drip);
      }
    },
  };
}

export const AT_IPP: readonly Attack[] = [
  slow('slow bodies, with a key', ({ key }) => basic(key), 300),
  slow('slow bodies, without', () => ({ 'content-length': ATTRIBUTES - 1 }), 300),
  requests('attributes without number', 8, () => ({ operation: 'Validate-Job', job: tiny(5_000) }), [
    400,
    ...codes('client-error-bad-request'),
  ]),
  requests(
    'attributes without number, from nobody',
    8,
    () => ({ operation: 'Get-Printer-Attributes', more: tiny(4_000) }),
    [200, 400],
    { withKey: false },
  ),
  requests(
    'collections in collections',
    8,
    () => ({ operation: 'Validate-Job', raw: nested(1_000) }),
    codes('client-error-bad-request'),
  ),
  requests(
    'what the printer is, asked by nobody',
    50,
    () => ({ operation: 'Get-Printer-Attributes' }),
    [200],
    {
      withKey: false,
    },
  ),
  requests('jobs whose documents never come', 50, () => ({ operation: 'Create-Job' }), [200]),
  requests(
    'documents that unpack to hundreds of megabytes',
    6,
    (share) => print(gzipSync(Buffer.alloc(200 * MB * share)), keyword('compression', 'gzip')),
    codes('client-error-request-entity-too-large'),
  ),
  requests(
    'a document of the most bytes that is none',
    6,
    // Left to chance, one in some thousands would begin as ZPL does, and be a job.
    (share) => print(Buffer.concat([Buffer.alloc(1), randomBytes(DOCUMENT * share - 1)])),
    codes('client-error-document-unprintable-error'),
  ),
  requests(
    'a raster of 2³² pixels each way',
    6,
    () => raster(rasterOf(rasterPage({ width: 2 ** 32 - 1, height: 2 ** 32 - 1, stride: 8 }, row(1)))),
    codes('client-error-document-unprintable-error'),
  ),
  requests(
    'a raster of dots one by one, that never ends',
    6,
    (share) =>
      raster(rasterOf(rasterPage({ width: 4_000, height: 4_000 }, Buffer.alloc(DOCUMENT * share * 0.9)))),
    codes('client-error-document-unprintable-error'),
  ),
  {
    name: 'IPP: wrong keys, while the right one is sent from the same address',
    run: async (target, { seconds, patience }) => {
      const printer = await target.offered();
      const body = bodyOf({ operation: 'Get-Printer-Attributes' }, printer.path);
      const [account = ''] = printer.key.split('.');
      const flood = loops(50, seconds, (agent, caller) => {
        const guess = caller % 2 === 0 ? `pk_${randomBytes(8).toString('hex')}` : account;
        const key = `${guess}.sk_${randomBytes(16).toString('hex')}`;
        return asked(target, { ...printer, key }, body, agent);
      });
      const right = loops(2, seconds, (agent) => asked(target, printer, body, agent));
      const wrong = await honestly(target, Promise.all([flood, right]), patience);
      return [...wrong, ...only(await flood, 401, 503), ...only(await right, 200)];
    },
  },
];
