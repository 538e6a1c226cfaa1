import { createInterface } from 'node:readline';
import { Argument, Command } from 'commander';
import { tenantId } from '../contract/tenant-id.ts';
import { connect } from './admin-client.ts';
import { CommandFailure, EXIT } from './failure.ts';
import { forTerminal, printJson, printLine, printList, printParagraph } from './output.ts';
import { type ServiceOptions, withService } from './which-service.ts';

/** `platen tenant create|list|set-quota|set-printer-commands|set-media-fit|erase` */
export function tenantCommand(): Command {
  const command = new Command('tenant').description('the workspaces of a service, and their print allowance');

  withService(command.command('create'))
    .description('make a tenant')
    .argument('<id>', 'its ID, the value of x-tenant: a-z, 0-9 and "-"')
    .option('--name <name>', 'its name, for people')
    .option('--json', 'print JSON')
    .action(async (id: string, options: ServiceOptions & { name?: string; json?: true }) => {
      if (!tenantId.safeParse(id).success) {
        throw new CommandFailure(`tenant ID "${id}": expected 1 to 63 of a-z, 0-9 and "-"`, EXIT.usage);
      }
      const client = await connect(options);
      const tenant = await client.createTenant({
        id,
        ...(options.name === undefined ? {} : { name: options.name }),
      });
      options.json ? printJson(tenant) : printLine(tenant.id);
    });

  withService(command.command('list'))
    .description('list the tenants')
    .option('--json', 'print JSON')
    .action(async (options: ServiceOptions & { json?: true }) => {
      const tenants = await (await connect(options)).tenants();
      const rows = tenants.map(({ id, name, quota }) => [
        id,
        name,
        String(quota.used),
        String(quota.labels ?? 'unlimited'),
      ]);
      printList(options, tenants, ['ID', 'NAME', 'LABELS THIS MONTH', 'ALLOWANCE'], rows);
    });

  withService(command.command('set-quota'))
    .description('set how many labels a tenant may print in a calendar month (UTC)')
    .argument('<id>', 'the tenant')
    .argument('<labels>', 'a number, or "unlimited"')
    .option('--json', 'print JSON')
    .action(async (id: string, labels: string, options: ServiceOptions & { json?: true }) => {
      const limit = labels === 'unlimited' ? null : Number(labels);
      if (limit !== null && !(Number.isSafeInteger(limit) && limit >= 0)) {
        throw new CommandFailure(
          `labels "${labels}": expected a whole number from 0, or "unlimited"`,
          EXIT.usage,
        );
      }
      const tenant = await (await connect(options)).setQuota(id, limit);
      options.json ? printJson(tenant) : printLine(`${tenant.id}: ${limit ?? 'unlimited'} labels a month`);
    });

  withService(command.command('set-printer-commands'))
    .description(
      'say whether raw templates of a tenant may set printers up (^JU, ^ND, ^MM, …), for all that use them',
    )
    .argument('<id>', 'the tenant')
    .addArgument(new Argument('<what>', 'may they?').choices(['allowed', 'refused']))
    .option('--json', 'print JSON')
    .action(async (id: string, what: string, options: ServiceOptions & { json?: true }) => {
      const tenant = await (await connect(options)).setPrinterCommands(id, what === 'allowed');
      options.json ? printJson(tenant) : printLine(`${tenant.id}: printer commands are ${what}`);
    });

  withService(command.command('set-media-fit'))
    .description("say what becomes of a tenant's jobs whose label does not fit the printer's media")
    .argument('<id>', 'the tenant')
    .addArgument(new Argument('<what>', 'refuse them, or warn?').choices(['refuse', 'warn']))
    .option('--json', 'print JSON')
    .action(async (id: string, what: string, options: ServiceOptions & { json?: true }) => {
      const tenant = await (await connect(options)).setMediaFit(id, what === 'refuse');
      const does = tenant.mediaMustFit ? 'refused' : 'printed, with a warning';
      options.json ? printJson(tenant) : printLine(`${tenant.id}: labels that do not fit are ${does}`);
    });

  withService(command.command('erase'))
    .description('erase a tenant with all that is kept of it, for good')
    .argument('<id>', 'the tenant')
    .option('--yes', 'do it; without it the ID is asked for')
    .option('--json', 'print JSON')
    .action(async (id: string, options: ServiceOptions & { yes?: true; json?: true }) => {
      const client = await connect(options);
      const tenant = (await client.tenants()).find((one) => one.id === id);
      if (tenant === undefined) throw new CommandFailure(`There is no tenant "${id}".`);
      if (!options.yes) await confirmed(tenant);
      let jobs = 0;
      for (;;) {
        const answer = await client.eraseTenant(id);
        jobs += answer.jobs;
        if (!answer.erased) continue;
        if (options.json) return printJson({ ...answer, jobs });
        printLine(`${id} is erased, with ${jobs} jobs.`);
        printParagraph(
          `What is left of it elsewhere: ${answer.audit ?? 0} entries of the audit, for 400 days; back-ups that were made ` +
            'before; logs; in Redis, jobs that ended in the last 48 h and templates for two weeks; and on the machines of ' +
            'agents their journals, and the pictures of virtual printers.',
        );
        return;
      }
    });

  return command;
}

/** Has a person type the ID, or a script send it. @throws CommandFailure where it is another one, or none */
async function confirmed({ id, name }: { id: string; name: string }): Promise<void> {
  process.stderr.write(
    forTerminal(`Jobs, templates, people and secrets of "${name}" go for good. Type its ID to go on: `),
  );
  const lines = createInterface({ input: process.stdin });
  for await (const line of lines) {
    lines.close();
    if (line.trim() === id) return;
    throw new CommandFailure(`Nothing is erased: the tenant is "${id}".`);
  }
  throw new CommandFailure('Nothing is erased: nobody has typed the ID. With --yes it is not asked for.');
}
