/**
 * `/openapi.json` and a page to read it by at `/docs/`. The page and its script come from this service alone, and
 * its content security policy keeps it from asking anyone else: it works without the internet.
 */
import Fastify, { type FastifyInstance } from 'fastify';

const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "worker-src 'self' blob:",
  "frame-ancestors 'none'",
].join('; ');

export function docsRoutes(app: FastifyInstance, document: () => object): void {
  let made: object | undefined;
  app.get('/openapi.json', async (_request, reply) => {
    made ??= document();
    return reply.header('cache-control', 'no-cache').send(made);
  });

  // The page's package is 4 MB of script in one string: loaded when somebody looks, not at every start.
  let page: Promise<FastifyInstance> | undefined;
  app.get('/docs', async (_request, reply) => reply.redirect('/docs/', 301));
  app.get('/docs/*', async (request, reply) => {
    page ??= createPage();
    const answer = await (await page).inject({ url: request.url });
    const type = answer.headers['content-type'];
    return reply
      .code(answer.statusCode)
      .type(typeof type === 'string' ? type : 'text/plain')
      .headers({ 'content-security-policy': POLICY, 'cache-control': 'no-cache' })
      .send(answer.rawPayload);
  });
}

async function createPage(): Promise<FastifyInstance> {
  const { default: reference } = await import('@scalar/fastify-api-reference');
  const page = Fastify();
  await page.register(reference, {
    routePrefix: '/docs',
    configuration: {
      url: '/openapi.json',
      pageTitle: 'Platen: label print interface',
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: 'never',
      defaultOpenAllTags: true,
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  });
  await page.ready();
  return page;
}
