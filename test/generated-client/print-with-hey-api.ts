/** An integrator's program on the client that @hey-api/openapi-ts makes of `/openapi.json`. Compiled by the test. */
import { client } from './client/client.gen';
import { enqueueJob, readJob, requestToken, validateJob } from './client/sdk.gen';
import type { PrintRequest } from './client/types.gen';

const { URL = '', API_KEY = '', API_SECRET = '', TENANT = '', TEMPLATE = '', PRINTER = '' } = process.env;

async function main(): Promise<void> {
  client.setConfig({ baseUrl: URL, throwOnError: true });
  const token = await requestToken({
    body: { grant_type: 'client_credentials', client_id: API_KEY, client_secret: API_SECRET },
    throwOnError: true,
  });
  client.setConfig({ auth: () => token.data.access_token });

  const request: PrintRequest = { idT: TEMPLATE, printer: PRINTER, data: [{ typed: '4712' }] };
  const headers = { 'x-tenant': TENANT };
  const checked = await validateJob({ headers, body: request, throwOnError: true });
  const printerId: string = checked.data.route.printerId;
  const queued = await enqueueJob({
    headers: { ...headers, 'Idempotency-Key': `hey-${Date.now()}` },
    body: { idT: TEMPLATE, printerId, data: [{ typed: '4712' }], numberCopies: 1 },
    throwOnError: true,
  });
  const id = typeof queued.data === 'string' ? queued.data : queued.data[0];
  const job = await readJob({ headers, path: { id }, throwOnError: true });
  console.log(job.data.id);
}

void main();
