/**
 * The console's pages at `/console/`: files that the set-up has built and compressed, and nothing else. Their content
 * security policy allows scripts and requests from and to this server only.
 */
import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { Asset, type AssetParts, tagOf } from './asset.ts';
import { ProblemError } from './problems.ts';

const BUILT = new URL('../../web/dist/', import.meta.url);
const INDEX = 'index.html';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
};
/** esbuild puts a hash into the names of the files that it makes: `main-2SVNHV6S.js`. */
const HASHED = /-[A-Z0-9]{8}\.\w+$/;

/** @param built the directory of the pages: for tests */
export function consoleRoutes(app: FastifyInstance, built: URL = BUILT): void {
  app.get('/', async (request, reply) => {
    if (!(request.headers.accept ?? '').includes('text/html')) {
      throw new ProblemError(
        'not-found',
        'the console is at /console/, the interface’s description at /docs/',
      );
    }
    return reply.redirect('/console/');
  });
  app.get('/console', async (_request, reply) => reply.redirect('/console/', 301));

  // The files are read at the first request: nobody opens the console of most services of a site.
  let files: Promise<ReadonlyMap<string, Asset>> | undefined;
  app.get('/console/*', async (request, reply) => {
    files ??= read(built).catch((cause: unknown) => {
      files = undefined;
      if (!(cause instanceof Error && 'code' in cause && cause.code === 'ENOENT')) throw cause;
      throw new ProblemError('not-found', 'the console is not built: "npm run setup" builds it', { cause });
    });
    const [path = ''] = request.url.slice('/console/'.length).split('?');
    const asset = (await files).get(path === '' ? INDEX : path);
    if (asset === undefined && isPage(path) && (request.headers.accept ?? '').includes('text/html')) {
      // Somebody typed the address of a page without its `#`. The console says itself where there is none.
      return reply.redirect(`/console/#/${path}`);
    }
    if (asset === undefined) throw new ProblemError('not-found', 'there is nothing at this address');
    reply.headers({ 'content-security-policy': POLICY, 'cross-origin-opener-policy': 'same-origin' });
    return asset.send(request, reply);
  });
}

/** Whether a path may be a page's: words with slashes between them, and no file. */
function isPage(path: string): boolean {
  return /^[a-z][\w/%-]{0,200}$/i.test(path);
}

/** All files of the directory, by their path in it. Paths in requests are only looked up, never opened. */
async function read(directory: URL): Promise<ReadonlyMap<string, Asset>> {
  const names = await readdir(directory, { recursive: true });
  const paths = new Set(names.map((name) => name.replaceAll('\\', '/')));
  const compressed = async (path: string) =>
    paths.has(path) ? await readFile(new URL(path, directory)) : undefined;
  const assets = new Map<string, Asset>();
  for (const path of paths) {
    const type = TYPES[extname(path)];
    if (type === undefined) continue;
    const body = await readFile(new URL(path, directory));
    const [br, gzip] = [await compressed(`${path}.br`), await compressed(`${path}.gz`)];
    const parts: AssetParts = {
      type,
      body,
      tag: tagOf(body),
      ...(br && { br }),
      ...(gzip && { gzip }),
      ...(HASHED.test(path) && { lasting: true }),
    };
    assets.set(path, new Asset(parts));
  }
  return assets;
}
