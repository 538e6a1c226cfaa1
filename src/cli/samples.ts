/** The sample templates of `templates/`, and a service account to try them with. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { IntegrationCreated } from '../contract/admin.ts';
import { type LabelRecord, labelRecord } from '../contract/print-request.ts';
import type { AdminClient } from './admin-client.ts';
import { readTemplate } from './input-file.ts';
import type { Ready } from './installation.ts';

const SAMPLES = fileURLToPath(new URL('../../templates/', import.meta.url));
const ACCOUNT = 'sample account';

export interface Sample {
  /** File name without its ending: `shelf-50x25`. */
  key: string;
  id: string;
  name: string;
  width: number;
  height: number;
  records: LabelRecord[];
}

/** Imports the sample templates, unless the tenant has them already. */
export async function importSamples(client: AdminClient, tenant: string): Promise<Sample[]> {
  const saved = new Map((await client.templates(tenant)).map((one) => [one.name, one.id]));
  const files = (await readdir(SAMPLES)).filter(
    (file) => file.endsWith('.json') && !file.endsWith('.records.json'),
  );
  const samples: Sample[] = [];
  for (const file of files.sort()) {
    const template = await readTemplate(join(SAMPLES, file));
    const key = file.replace(/\.json$/, '');
    const records = z
      .array(labelRecord)
      .parse(JSON.parse(await readFile(join(SAMPLES, `${key}.records.json`), 'utf8')));
    const id = saved.get(template.name) ?? (await client.importTemplate(tenant, template)).id;
    samples.push({
      key,
      id,
      name: template.name,
      width: template.width ?? 0,
      height: template.height ?? 0,
      records,
    });
  }
  return samples;
}

/** The form of a token request, as `curl --data @file` sends it. */
export function tokenForm(account: IntegrationCreated): URLSearchParams {
  return new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: account.apiKey,
    client_secret: account.apiSecret,
    audience: account.audience,
    scope: account.scope,
  });
}

/**
 * Imports the samples and makes a service account whose token request is kept in the data directory (mode 0600),
 * so that the command line that it returns can be pasted as it stands and shows no secret.
 */
export async function addSamples(client: AdminClient, dataDir: string, ready: Ready): Promise<string> {
  const samples = await importSamples(client, ready.tenant);
  const form = join(dataDir, 'sample-account.form');
  const accounts = await client.integrations(ready.tenant);
  for (const account of accounts.filter((one) => one.name === ACCOUNT && one.revokedAt === null)) {
    await client.revokeIntegration(ready.tenant, account.apiKey);
  }
  const account = await client.createIntegration(ready.tenant, { name: ACCOUNT });
  await writeFile(form, tokenForm(account).toString(), { mode: 0o600 });

  const printer = (await client.printers(ready.tenant))[0];
  const sample = samples.find((one) => one.key === 'shelf-50x25');
  if (printer === undefined || sample === undefined)
    return 'No printer: start with --virtual 1 to try a job.';
  const body = JSON.stringify({ idT: sample.id, printerId: printer.id, data: sample.records.slice(0, 1) });
  const path = relative(process.cwd(), form);
  return [
    'Send a job (paste this into a shell in the same folder):',
    '',
    `AUTH=$(curl -sS ${ready.tokenUrl} --data @${path} |`,
    `  sed 's/.*"access_token":"\\([^"]*\\)".*/Authorization: Bearer \\1/')`,
    // Where there is no token it says why, and sends nothing.
    'case $AUTH in (Authorization*)',
    // Through a pipe: on the command line the token would be in the process list.
    `  printf '%s' "$AUTH" | curl -sS ${ready.url}/v2/jobs -H @- -H "x-tenant: ${ready.tenant}" \\`,
    '  -H "Content-Type: application/json" -H "Idempotency-Key: sample-$(date +%s)" \\',
    `  --data '${body.replaceAll("'", "'\\''")}' ;;`,
    `(*) printf 'No token: %s\\n' "$AUTH" ;; esac`,
    '',
    `The pictures of its labels: ${relative(process.cwd(), join(dataDir, 'printed', printer.name))}/`,
    '',
  ].join('\n');
}
