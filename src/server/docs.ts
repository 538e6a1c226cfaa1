/**
 * `/openapi.json`, `/openapi-3.0.json`, and a page to read it by at `/docs/`. The page and its scripts come from this service alone, and
 * its content security policy keeps it from asking anyone else, and from running what is inside of the page, which has the
 * console's origin: it works without the internet.
 */
import { once } from 'node:events';
import { setImmediate as breathe } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { FastifyInstance } from 'fastify';
import { Asset, assetParts } from './asset.ts';
import type { DocsPage } from './docs-page.ts';
import type { OpenApiVersion } from './openapi.ts';
import { ProblemError } from './problems.ts';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "worker-src 'self' blob:",
  "frame-ancestors 'none'",
].join('; ');

/** ms to make the page. */
const DEADLINE = 60_000;

const DOCUMENTS = [
  ['/openapi.json', '3.1.0'],
  ['/openapi-3.0.json', '3.0.3'],
] as const;

export function docsRoutes(app: FastifyInstance, document: (openapi: OpenApiVersion) => object): void {
  for (const [address, openapi] of DOCUMENTS) {
    let api: Asset | undefined;
    app.get(address, async (request, reply) => {
      api ??= new Asset(assetParts('application/json; charset=utf-8', JSON.stringify(document(openapi))));
      return api.send(request, reply);
    });
  }

  // The page is made at the first request, not at every start.
  let page: Promise<ReadonlyMap<string, Asset>> | undefined;
  app.get('/docs', async (_request, reply) => reply.redirect('/docs/', 301));
  app.get('/docs/*', async (request, reply) => {
    page ??= makePage().catch((error: unknown) => {
      page = undefined;
      throw error;
    });
    const [path = ''] = request.url.split('?');
    const asset = (await page).get(path);
    if (asset === undefined) throw new ProblemError('not-found', 'there is nothing at this address');
    await turn();
    return asset.send(request, reply.header('content-security-policy', POLICY));
  });
}

let last: Promise<void> = Promise.resolve();

/**
 * Handing the script to a socket takes some ms: one reader at a time, so that other requests are served in between.
 */
function turn(): Promise<void> {
  last = last.then(() => breathe());
  return last;
}

async function makePage(): Promise<ReadonlyMap<string, Asset>> {
  const worker = new Worker(new URL('./docs-page.ts', import.meta.url), { execArgv: [] });
  try {
    const [files]: DocsPage[] = await once(worker, 'message', { signal: AbortSignal.timeout(DEADLINE) });
    return new Map(Object.entries(files ?? {}).map(([path, parts]) => [path, new Asset(parts)]));
  } finally {
    await worker.terminate();
  }
}
