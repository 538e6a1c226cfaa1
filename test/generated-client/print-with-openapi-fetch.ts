/** An integrator's program on the types that openapi-typescript makes of `/openapi.json`. Compiled by the test. */
import createClient from 'openapi-fetch';
import type { components, paths } from './schema';

const { URL = '', API_KEY = '', API_SECRET = '', TENANT = '', TEMPLATE = '', PRINTER = '' } = process.env;
const client = createClient<paths>({ baseUrl: URL });

async function main(): Promise<void> {
  const token = await client.POST('/oauth/token', {
    body: { grant_type: 'client_credentials', client_id: API_KEY, client_secret: API_SECRET },
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  });
  if (token.error !== undefined)
    throw new Error('detail' in token.error ? token.error.detail : token.error.error_description);
  const headers = { Authorization: `Bearer ${token.data.access_token}` };

  // By ID or by name, and nothing else that has a default.
  const byName: components['schemas']['PrintRequest'] = {
    idT: TEMPLATE,
    printer: PRINTER,
    data: [{ typed: '4711' }],
  };
  const checked = await client.POST('/v2/jobs/validate', {
    params: { header: { 'x-tenant': TENANT } },
    headers,
    body: byName,
  });
  if (checked.error !== undefined) throw new Error(checked.error.detail);
  const labels: number = checked.data.labels;
  if (labels !== 1) throw new Error(`${labels} labels`);

  const byId: components['schemas']['PrintRequest'] = {
    idT: TEMPLATE,
    printerId: checked.data.route.printerId,
    data: [{ typed: '4711' }],
  };
  const queued = await client.POST('/v2/jobs', {
    params: { header: { 'x-tenant': TENANT, 'Idempotency-Key': `fetch-${Date.now()}` } },
    headers,
    body: byId,
  });
  if (queued.error !== undefined) throw new Error(`${queued.error.code}: ${queued.error.detail}`);
  const id: string = typeof queued.data === 'string' ? queued.data : queued.data[0];

  const job = await client.GET('/v2/jobs/{id}', {
    params: { header: { 'x-tenant': TENANT }, path: { id } },
    headers,
  });
  if (job.error !== undefined) throw new Error(job.error.detail);
  console.log(job.data.id);
}

void main();
