import { Command } from 'commander';
import { PERMISSIONS, USUAL_SCOPE } from '../contract/admin.ts';
import { connect, type ServiceOptions, withService } from './admin-client.ts';
import { printJson, printLine, table } from './output.ts';
import { localTime } from './times.ts';

interface TenantOptions extends ServiceOptions {
  tenant: string;
  json?: true;
}

/** `platen integration create|list|revoke` */
export function integrationCommand(): Command {
  const command = new Command('integration').description('service accounts that may send jobs over HTTP');
  const withTenant = (name: string) =>
    withService(command.command(name))
      .option('--tenant <id>', 'the tenant', 'default')
      .option('--json', 'print JSON');

  withTenant('create')
    .description('make a service account; prints its API secret, this once')
    .requiredOption('--name <name>', 'what it is for')
    .option(
      '--scope <scope>',
      `permissions, separated by spaces: ${PERMISSIONS.join(', ')}`,
      USUAL_SCOPE.join(' '),
    )
    .action(async (options: TenantOptions & { name: string; scope: string }) => {
      const client = await connect(options);
      const scope = options.scope.split(/\s+/).filter(Boolean);
      const created = await client.createIntegration(options.tenant, { name: options.name, scope });
      if (options.json) return printJson(created);
      for (const [name, value] of Object.entries(created)) printLine(`${name.padEnd(14)}${value}`);
      printLine('\nKeep the API secret now: it is not shown again.');
    });

  withTenant('list')
    .description('list the service accounts of a tenant')
    .action(async (options: TenantOptions) => {
      const integrations = await (await connect(options)).integrations(options.tenant);
      if (options.json) return printJson(integrations);
      const rows = integrations.map((one) => [
        one.apiKey,
        one.name,
        one.scope,
        localTime(one.createdAt),
        one.revokedAt === null ? '' : localTime(one.revokedAt),
      ]);
      printLine(table(['API KEY', 'NAME', 'SCOPE', 'CREATED', 'REVOKED'], rows));
    });

  withTenant('revoke')
    .description('end a service account; its tokens are refused from now on')
    .argument('<apiKey>', 'its API key')
    .action(async (apiKey: string, options: TenantOptions) => {
      await (await connect(options)).revokeIntegration(options.tenant, apiKey);
      options.json ? printJson({ apiKey, revoked: true }) : printLine(`${apiKey} is revoked`);
    });

  return command;
}
