/**
 * Labelary's interface (labelary.com/service.html): ZPL in, a picture out, for clients that were written for it. It has no
 * accounts, so a deployment has to turn it on. It prints nothing, keeps nothing and reads nothing of a tenant's. The ZPL is a
 * stranger's: its size is bounded, it is drawn in the check threads, of which these labels never have all, and how many
 * requests are taken is said in `strangers.ts`.
 */
import { STATUS_CODES } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { CheckPool } from '../../rendering/check-pool.ts';
import type { ZplCheck } from '../../rendering/check-protocol.ts';
import { doorAnswer } from '../app.ts';
import type { ServerConfig } from '../config.ts';
import { DoorError } from '../door-error.ts';
import { callerAddress, networkOf } from '../network.ts';
import { inTime } from '../templates/drawn-label.ts';
import { isAbandoned } from '../unread-body.ts';
import { formFile } from './form-file.ts';
import { pageAsked } from './page.ts';
import { Strangers } from './strangers.ts';
import { wrong } from './wrong.ts';

/** Bytes of a request's body, labels of a request, and inches of a label's side: Labelary's own limits. */
const BODY_LIMIT = 1024 * 1024;
const MOST_LABELS = 50;
const MOST_INCHES = 15;
const MM_PER_INCH = 25.4;
/** No tenant's ID has a space: all these labels take turns with each tenant's as one. */
const OWNER = 'labelary callers';

/** dpi, by dots per mm. */
const DENSITIES: Readonly<Record<string, number>> = { '6': 152, '8': 203, '12': 300, '24': 600 };
const TYPES = { png: 'image/png', pdf: 'application/pdf', json: 'application/json' } as const;
const TURNS = { '0': 0, '90': 90, '180': 180, '270': 270 } as const;

const parameters = z.object({
  density: z.string(),
  size: z.string(),
  index: z.string().optional(),
  '*': z.string().optional(),
});

const ADDRESS = '/labelary/v1/printers/:density/labels/:size';

type Parts = { checks: CheckPool; config: ServerConfig['labelary'] };

/** Registered in a scope of its own: bodies are ZPL and not JSON, and errors are texts. */
export async function labelaryRoutes(app: FastifyInstance, { checks, config }: Parts): Promise<void> {
  const strangers = new Strangers(config.key);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_LIMIT }, (_request, body, done) =>
    done(null, body),
  );
  app.addHook('onRequest', async (request) => {
    await strangers.count(networkOf(callerAddress(request)), request.headers['x-api-key']);
  });
  app.setErrorHandler(async (error, request, reply) => {
    if (isAbandoned(request.raw, reply)) return reply;
    const limit = request.routeOptions.bodyLimit ?? BODY_LIMIT;
    const { status, message, headers } = doorAnswer(error, request, limit);
    // Labelary has no 422.
    const known = status === 422 ? 400 : status;
    const said = message === '' ? (STATUS_CODES[known] ?? '') : message;
    return reply.code(known).headers(headers).type('text/plain; charset=utf-8').send(`ERROR: ${said}`);
  });

  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    const zpl = request.method === 'POST' ? await zplInBody(request) : zplInUrl(request);
    const check = asked(request, zpl);
    const end = strangers.begin(networkOf(callerAddress(request)));
    try {
      const { file, labels } = await inTime((times) => checks.run(OWNER, check, times));
      return reply
        .header('x-total-count', labels)
        .type(TYPES[check.as])
        .send(Buffer.from(file ?? missing(check, labels)));
    } finally {
      end();
    }
  };
  for (const url of [ADDRESS, `${ADDRESS}/`, `${ADDRESS}/:index`, `${ADDRESS}/:index/*`]) {
    app.route({ method: ['GET', 'POST'], url, bodyLimit: BODY_LIMIT, handler });
  }
}

/** @throws DoorError 404: there is no such label; 413: there are too many */
function missing({ label = 0 }: Pick<ZplCheck, 'label'>, labels: number): never {
  if (labels > MOST_LABELS) throw new DoorError(413, `the ZPL has more than ${MOST_LABELS} labels`);
  const has = labels === 0 ? 'generated no labels' : `generated ${labels}, counted from 0`;
  const message = `label ${label} was requested but the ZPL ${has}`;
  throw new DoorError(404, message, { 'x-total-count': labels });
}

/** What the address and the headers ask for. @throws DoorError 400, 406 */
function asked({ params, headers }: FastifyRequest, zpl: Uint8Array): ZplCheck {
  const { density, size, index } = parameters.parse(params);
  const dpi = DENSITIES[/^(\d{1,2})dpmm$/.exec(density)?.[1] ?? ''];
  if (dpi === undefined) throw wrong('the print density', '6dpmm, 8dpmm, 12dpmm or 24dpmm');
  const [, across = '', down = ''] = /^(\d{0,3}(?:\.\d{1,9})?)x(\d{0,3}(?:\.\d{1,9})?)$/.exec(size) ?? [];
  const inches = [Number(across), Number(down)];
  if (!inches.every((side) => Math.round(side * dpi) > 0 && side <= MOST_INCHES))
    throw wrong('the label size', `width x height in inches, at most ${MOST_INCHES} each`);
  const [width = 0, height = 0] = inches.map((side) => side * MM_PER_INCH);
  if (index !== undefined && !/^\d{1,6}$/.test(index))
    throw wrong('the label index', 'a whole number from 0');
  const as = typeAsked(headers.accept);
  if (index === undefined && as === 'png')
    throw wrong('the label index', 'a number in the address, since a picture is of one label');
  const rotation = headers['x-rotation'] ?? '0';
  const turn = Object.entries(TURNS).find(([name]) => name === rotation)?.[1];
  if (turn === undefined) throw wrong('the header X-Rotation', '0, 90, 180 or 270');
  const lies = turn === 90 || turn === 270 ? { width: height, height: width } : { width, height };
  return {
    ...{ kind: 'zpl', zpl, dpi, width, height, turn, as, most: MOST_LABELS },
    label: index === undefined ? undefined : Number(index),
    ...(as === 'pdf' ? pageAsked(headers, lies) : { page: undefined, border: 'none' }),
  };
}

/** The first of the types that we make; a caller who names none gets a PNG. @throws DoorError 406 */
function typeAsked(accept = '*/*'): keyof typeof TYPES {
  for (const part of accept.toLowerCase().split(',')) {
    const type = part.split(';', 1)[0]?.trim();
    if (type === TYPES.png || type === 'image/*' || type === '*/*' || type === '') return 'png';
    if (type === TYPES.pdf || type === 'application/*') return 'pdf';
    if (type === TYPES.json) return 'json';
  }
  throw new DoorError(406, `the header Accept is not as expected: ${Object.values(TYPES).join(', ')}`);
}

/** The rest of the path, or the query as `curl --get --data-urlencode` writes it. @throws DoorError 400 */
function zplInUrl({ params, url }: FastifyRequest): Uint8Array {
  const { '*': rest = '' } = parameters.parse(params);
  const mark = url.indexOf('?');
  if (mark < 0) return Buffer.from(rest);
  const query = url.slice(mark + 1);
  try {
    // A question mark in a path that holds ZPL is of the ZPL.
    const said = rest === '' ? query.replaceAll('+', ' ') : `?${query}`;
    return Buffer.from(rest + decodeURIComponent(said));
  } catch {
    throw wrong('the ZPL in the address', 'URL-encoded UTF-8');
  }
}

/** The body as it is, or the part `file` of a form. @throws DoorError 400 */
async function zplInBody({ body, headers }: FastifyRequest): Promise<Uint8Array> {
  if (!Buffer.isBuffer(body)) return new Uint8Array();
  const type = headers['content-type'] ?? '';
  return /^multipart\/form-data\b/i.test(type) ? await formFile(body, type) : body;
}
