/** A line to paste into a shell that prints a label with a new account. */
import type { IntegrationCreated } from '../../src/contract/admin.ts';

/** What the command prints; `NO_EXAMPLE` has placeholder words for a missing printer or template. */
export type Example = { idT: string; printer: string; data: readonly Readonly<Record<string, string>>[] };
export const NO_EXAMPLE: Example = {
  idT: 'TEMPLATE_ID',
  printer: 'PRINTER_NAME',
  data: [{ FIELD: 'VALUE' }],
};

/** Secret and token go through pipes, because everybody on the machine can read a command line. */
export function curlOf(account: IntegrationCreated, example: Example): string {
  const form = [
    'grant_type=client_credentials',
    `client_id=${encodeURIComponent(account.apiKey)}`,
    'client_secret=$API_SECRET',
    `audience=${encodeURIComponent(account.audience)}`,
    `scope=${encodeURIComponent(account.scope)}`,
  ].join('&');
  return [
    'read -rs API_SECRET    # paste the secret, press Enter',
    `AUTH=$(printf '%s' "${form}" | curl -sS ${quoted(account.tokenUrl)} -d @- |`,
    `  sed 's/.*"access_token":"\\([^"]*\\)".*/Authorization: Bearer \\1/')`,
    // Where there is no token it says why, and sends nothing.
    'case $AUTH in (Authorization*)',
    `  printf '%s\\n' "$AUTH" | curl -sS ${quoted(account.printEndpoint)} -H @- -H ${quoted(`x-tenant: ${account.tenant}`)} \\`,
    `  -H 'Content-Type: application/json' -H "Idempotency-Key: try-$(date +%s)" \\`,
    `  -d ${quoted(JSON.stringify(example))} ;;`,
    `(*) printf 'No token: %s\\n' "$AUTH" ;; esac`,
  ].join('\n');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
