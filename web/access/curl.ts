/** A command line that prints a label with a new account, for people to paste into a shell. */
import type { IntegrationCreated } from '../../src/contract/admin.ts';

/** What the command prints. `NO_EXAMPLE` has placeholders for a printer or a template that does not exist yet. */
export type Example = { idT: string; printer: string; data: readonly Readonly<Record<string, string>>[] };
export const NO_EXAMPLE: Example = {
  idT: 'TEMPLATE_ID',
  printer: 'PRINTER_NAME',
  data: [{ FIELD: 'VALUE' }],
};

/** The secret and the token go through pipes, because everybody on the machine can read a command line. */
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
    // Without a token the command says why there is none, and sends nothing.
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
