import { Command } from 'commander';
import type { AuditEntry } from '../contract/people.ts';
import { type AdminClient, connect } from './admin-client.ts';
import { numberFrom } from './option-values.ts';
import { printLine, printList } from './output.ts';
import { localTime } from './times.ts';
import { type ServiceOptions, withService } from './which-service.ts';

/** Entries of one request. */
const PAGE = 1_000;

interface AuditOptions extends ServiceOptions {
  tenant?: string;
  limit: number;
  export?: true;
  json?: true;
}

/** `platen audit` */
export function auditCommand(): Command {
  return withService(new Command('audit'))
    .description('who did what, when and from where; the newest first')
    .option('--tenant <id>', 'of one tenant only')
    .option('--limit <n>', 'how many', numberFrom(1, PAGE), 50)
    .option('--export', 'print all entries, each as a line of JSON')
    .option('--json', 'print JSON')
    .action(async (options: AuditOptions) => {
      const client = await connect(options);
      const tenant = options.tenant === undefined ? {} : { tenant: options.tenant };
      if (options.export) {
        for await (const entry of all(client, tenant)) printLine(JSON.stringify(entry));
        return;
      }
      const { entries } = await client.auditPage({ ...tenant, limit: options.limit });
      const rows = entries.map((entry) => [
        localTime(entry.at),
        entry.tenant ?? '',
        entry.who.name,
        entry.what,
        entry.object ?? '',
        entry.from ?? '',
      ]);
      printList(options, entries, ['WHEN', 'TENANT', 'WHO', 'WHAT', 'OBJECT', 'FROM'], rows);
    });
}

async function* all(client: AdminClient, tenant: { tenant?: string }): AsyncGenerator<AuditEntry> {
  let before: string | null | undefined;
  while (before !== null) {
    const page = await client.auditPage({ ...tenant, limit: PAGE, ...(before !== undefined && { before }) });
    yield* page.entries;
    before = page.next;
  }
}
