import { Command, Option } from 'commander';
import { type InvitationCreated, type PersonView, ROLES } from '../contract/people.ts';
import { type AdminClient, connect } from './admin-client.ts';
import { CommandFailure } from './failure.ts';
import { printJson, printLine, printList } from './output.ts';
import { localTime } from './times.ts';
import { ofTenant, type TenantOptions } from './which-service.ts';

/** `platen user invite|list|role|revoke` */
export function userCommand(): Command {
  const command = new Command('user').description('people who may sign in to the console');
  const roleOption = () => new Option('--role <role>', 'what they may do').choices(ROLES);

  ofTenant(command, 'invite')
    .description('invite a person, or once more one who has lost the link or the password')
    .argument('<login>', 'an e-mail address or a short name, to sign in with')
    .option('--name <name>', 'as others see it')
    .addOption(roleOption().default('viewer'))
    .action(async (login: string, options: TenantOptions & { name?: string; role: string }) => {
      const client = await connect(options);
      const { tenant, name, role } = options;
      const known = (await client.people(tenant)).find((one) => one.login === login.trim().toLowerCase());
      const invited =
        known === undefined || known.state === 'revoked'
          ? await client.invite(tenant, { login, role, ...(name !== undefined && { name }) })
          : await client.inviteAgain(tenant, known.id);
      options.json ? printJson(invited) : printLine(invitationText(invited));
    });

  ofTenant(command, 'list')
    .description('list the people of a tenant')
    .action(async (options: TenantOptions) => {
      const people = await (await connect(options)).people(options.tenant);
      const rows = people.map((one) => [
        one.login,
        one.name,
        one.deployment ? `${one.role}, of the installation` : one.role,
        one.state,
        one.lastSeenAt === null ? '' : localTime(one.lastSeenAt),
      ]);
      printList(options, people, ['LOGIN', 'NAME', 'ROLE', 'STATE', 'LAST SEEN'], rows);
    });

  ofTenant(command, 'role')
    .description('give a person another role, from their next request on')
    .argument('<login>', 'who')
    .addOption(roleOption().makeOptionMandatory())
    .action(async (login: string, options: TenantOptions & { role: string }) => {
      const client = await connect(options);
      const { id } = await personOf(client, options.tenant, login);
      const person = await client.setRole(options.tenant, id, options.role);
      options.json ? printJson(person) : printLine(`${person.login} is ${person.role}`);
    });

  ofTenant(command, 'revoke')
    .description('let a person in no longer; their sessions end at once')
    .argument('<login>', 'who')
    .action(async (login: string, options: TenantOptions) => {
      const client = await connect(options);
      const { id } = await personOf(client, options.tenant, login);
      const person = await client.revokePerson(options.tenant, id);
      options.json ? printJson(person) : printLine(`${person.login} is revoked`);
    });

  return command;
}

/** @throws CommandFailure */
async function personOf(client: AdminClient, tenant: string, login: string): Promise<PersonView> {
  const found = (await client.people(tenant)).find((one) => one.login === login.trim().toLowerCase());
  if (found === undefined) throw new CommandFailure(`Tenant "${tenant}" has no person "${login}".`);
  return found;
}

function invitationText({ person, url, expiresAt }: InvitationCreated): string {
  return [
    `${person.login} may come in as ${person.role}. Give them this link; it works once, until ${localTime(expiresAt)}:`,
    '',
    `  ${url}`,
    '',
  ].join('\n');
}
