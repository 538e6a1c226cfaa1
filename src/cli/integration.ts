import { Command, Option } from 'commander';
import { PERMISSIONS, SECRETS, USUAL_SCOPE } from '../contract/admin.ts';
import { connect } from './admin-client.ts';
import { numberFrom } from './option-values.ts';
import { printJson, printLine, printList } from './output.ts';
import { localTime } from './times.ts';
import { ofTenant, type TenantOptions } from './which-service.ts';

/** `platen integration create|list|rotate|remove-secret|revoke` */
export function integrationCommand(): Command {
  const command = new Command('integration').description('service accounts that may send jobs over HTTP');

  ofTenant(command, 'create')
    .description('make a service account; prints its API secret, this once')
    .requiredOption('--name <name>', 'what it is for')
    .option(
      '--scope <scope>',
      `permissions, separated by spaces: ${PERMISSIONS.join(', ')}`,
      USUAL_SCOPE.join(' '),
    )
    .option('--test', 'a test key: its jobs print on virtual printers only, whatever they ask for')
    .action(async (options: TenantOptions & { name: string; scope: string; test?: true }) => {
      const client = await connect(options);
      const scope = options.scope.split(/\s+/).filter(Boolean);
      const created = await client.createIntegration(options.tenant, {
        ...{ name: options.name, scope },
        test: options.test ?? false,
      });
      if (options.json) return printJson(created);
      for (const [name, value] of Object.entries(created)) printLine(`${name.padEnd(14)}${value}`);
      printLine('\nKeep the API secret now: it is not shown again.');
    });

  ofTenant(command, 'list')
    .description('list the service accounts of a tenant')
    .action(async (options: TenantOptions) => {
      const integrations = await (await connect(options)).integrations(options.tenant);
      const rows = integrations.map((one) => [
        one.apiKey,
        one.name,
        one.test ? 'test' : '',
        one.scope,
        one.lastUsedAt === null ? 'never' : localTime(one.lastUsedAt),
        one.revokedAt !== null ? 'revoked' : one.oldSecret === null ? 'one' : 'two',
      ]);
      printList(options, integrations, ['API KEY', 'NAME', 'KIND', 'SCOPE', 'LAST USED', 'SECRETS'], rows);
    });

  ofTenant(command, 'rotate')
    .description('a second API secret, printed this once; the old one works too')
    .argument('<apiKey>', 'its API key')
    .option(
      '--old-for <hours>',
      'hours for which the old secret works; without it until it is removed',
      numberFrom(1, 8_760),
    )
    .action(async (apiKey: string, options: TenantOptions & { oldFor?: number }) => {
      const rotated = await (await connect(options)).rotateIntegration(
        options.tenant,
        apiKey,
        options.oldFor,
      );
      if (options.json) return printJson(rotated);
      const { oldSecret, ...shown } = rotated;
      for (const [name, value] of Object.entries(shown)) printLine(`${name.padEnd(14)}${value}`);
      printLine('\nKeep the API secret now: it is not shown again.');
      printLine(`The old one works too${oldSecret === null ? '' : untilOf(oldSecret)}.`);
    });

  ofTenant(command, 'remove-secret')
    .description('end one of two API secrets')
    .argument('<apiKey>', 'its API key')
    .addOption(
      new Option('--which <secret>', 'the one that is to work no longer').choices(SECRETS).default('old'),
    )
    .action(async (apiKey: string, options: TenantOptions & { which: 'old' | 'new' }) => {
      const left = await (await connect(options)).removeSecret(options.tenant, apiKey, options.which);
      options.json ? printJson(left) : printLine(`${apiKey} has one secret`);
    });

  ofTenant(command, 'revoke')
    .description('end a service account; its tokens are refused from now on')
    .argument('<apiKey>', 'its API key')
    .action(async (apiKey: string, options: TenantOptions) => {
      await (await connect(options)).revokeIntegration(options.tenant, apiKey);
      options.json ? printJson({ apiKey, revoked: true }) : printLine(`${apiKey} is revoked`);
    });

  return command;
}

function untilOf({ endsAt }: { endsAt: string | null }): string {
  return endsAt === null ? '' : ` until ${localTime(endsAt)}`;
}
