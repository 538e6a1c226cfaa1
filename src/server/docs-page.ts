/**
 * Makes the page of `/docs/`, in a worker thread. The page's package is 4 MB of script in one string, which
 * the thread reads and compresses beside the service; its memory is freed when the thread ends.
 */
import { parentPort } from 'node:worker_threads';
import reference from '@scalar/fastify-api-reference';
import Fastify from 'fastify';
import { assetParts } from './asset.ts';

/** What the thread answers: each file of the page by its path. */
export type DocsPage = Readonly<Record<string, ReturnType<typeof assetParts>>>;

const PATHS = ['/docs/', '/docs/js/scalar.js'];
const START = 'js/start.js';

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
let html = '';
const files: Record<string, ReturnType<typeof assetParts>> = {};
for (const url of PATHS) {
  const { statusCode, headers, rawPayload } = await page.inject({ url });
  if (statusCode !== 200) throw new Error(`the page has no ${url}`);
  if (url === '/docs/') html = rawPayload.toString();
  files[url] = assetParts(String(headers['content-type'] ?? 'text/plain'), rawPayload);
}
// The package starts its script by a script in the page. In a file of its own it runs where no page may have one inside.
const [before = '', behind = ''] = html.split('<script type="text/javascript">');
const [start = '', after = ''] = behind.split('</script>');
if (start === '' || after === '') throw new Error('the page does not start its script as it did');
const whole = `${before}<script src="${START}"></script>${after}`;
files['/docs/'] = assetParts('text/html; charset=utf-8', whole);
files[`/docs/${START}`] = assetParts('application/javascript; charset=utf-8', start);
// A buffer is handed over without a copy, unless it shares its memory with something else.
const handed = Object.values(files)
  .flatMap(({ body, gzip }) => [body, gzip])
  .filter(({ buffer, byteLength }) => buffer.byteLength === byteLength)
  .map(({ buffer }) => buffer)
  .filter((buffer) => buffer instanceof ArrayBuffer);
parentPort?.postMessage(files satisfies DocsPage, handed);
