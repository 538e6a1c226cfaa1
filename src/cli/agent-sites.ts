/** `platen agent invite|enroll|revoke`: agents at other sites. */
import { Command } from 'commander';
import { z } from 'zod';
import { isLoopback } from '../../drivers/address.ts';
import { invitationMade } from '../contract/invitation.ts';
import { connect } from './admin-client.ts';
import { enrollAgent } from './enrolment.ts';
import { printJson, printLine, printParagraph } from './output.ts';
import { becomeOwner, ownDirectory } from './own-directory.ts';
import { keepFilesPrivate } from './private-files.ts';
import { wholeId } from './short-id.ts';
import { localTime } from './times.ts';
import { type ServiceOptions, withService } from './which-service.ts';

type Json = { json?: true };

export function siteCommands(): Command[] {
  const invite = withService(new Command('invite'))
    .description('make a code with which an agent at another site enrols, once, within a day')
    .requiredOption('--name <name>', 'what the agent will be called')
    .option('--tenant <id>', 'the tenant whose printers it has; by default they serve every tenant')
    .option('--json', 'print JSON')
    .action(async (options: ServiceOptions & Json & { name: string; tenant?: string }) => {
      const { name, tenant, json } = options;
      const asked = { name, ...(tenant !== undefined && { tenant }) };
      const made = await (await connect(options)).ofAgents(invitationMade, '/invitations', asked);
      if (json) return printJson(made);
      printLine(
        `On the machine at the other site, until ${localTime(made.expiresAt)}:\n\n` +
          `  platen agent enroll '${made.url}'\n  platen agent`,
      );
      if (isLoopback(new URL(made.url).hostname)) {
        printParagraph(
          `This address works on the service's own computer only: elsewhere the agent needs the service's https address, which PLATEN_PUBLIC_URL ("publicUrl") names.`,
        );
      }
    });
  const enroll = new Command('enroll')
    .description(
      'have this agent known to a service elsewhere; from then on "platen agent" needs nothing else',
    )
    .argument(
      '<invitation>',
      'the service\'s address and the code, in quotes, as "platen agent invite" prints it',
    )
    .option('--data <dir>', "the agent's data directory", ownDirectory('agent-data'))
    .option('--json', 'print JSON')
    .action(async (invitation: string, { data, json }: Json & { data: string }) => {
      becomeOwner(data);
      keepFilesPrivate();
      const { agentId, name, scope, origin } = await enrollAgent(invitation, data);
      if (json) return printJson({ agentId, name, tenant: scope, url: origin });
      printLine(`${name} (${agentId}) is enrolled at ${origin}; start it with "platen agent".`);
    });
  const revoke = withService(new Command('revoke'))
    .description('let an agent that has enrolled join no more; whatever it prints ends at once')
    .argument('<id>', 'its ID, as "platen agents" shows it')
    .option('--json', 'print JSON')
    .action(async (id: string, options: ServiceOptions & Json) => {
      const client = await connect(options);
      const known = (await client.agents()).map((agent) => agent.id);
      const whole = wholeId('agents', id, known);
      await client.ofAgents(z.unknown(), `/${encodeURIComponent(whole)}/revoke`);
      options.json ? printJson({ id: whole, revoked: true }) : printLine(`${whole} is revoked`);
    });
  return [invite, enroll, revoke];
}
