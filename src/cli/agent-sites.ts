/** `platen agent invite|enroll|list|revoke`: agents at other sites. */
import { Command } from 'commander';
import { z } from 'zod';
import { isLoopback } from '../../drivers/address.ts';
import { GOODBYES } from '../contract/gateway.ts';
import { type EnrolledAgents, enrolledAgents, invitationMade } from '../contract/invitation.ts';
import { connect } from './admin-client.ts';
import { enrollAgent } from './enrolment.ts';
import { printJson, printLine, printParagraph, table } from './output.ts';
import { becomeOwner, ownDirectory } from './own-directory.ts';
import { keepFilesPrivate } from './private-files.ts';
import { shortIds, wholeId } from './short-id.ts';
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
      const made = await (await connect(options)).ofAgents(invitationMade, 'POST', '/invitations', asked);
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
    .argument('<id>', 'its ID, as "platen agent list" shows it')
    .option('--json', 'print JSON')
    .action(async (id: string, options: ServiceOptions & Json) => {
      const client = await connect(options);
      const { agents } = await client.ofAgents(enrolledAgents, 'GET', '/enrolled');
      const known = agents.map((agent) => agent.id);
      const whole = wholeId('agents', id, known);
      await client.ofAgents(z.unknown(), 'POST', `/${encodeURIComponent(whole)}/revoke`);
      options.json ? printJson({ id: whole, revoked: true }) : printLine(`${whole} is revoked`);
    });
  const list = withService(new Command('list'))
    .description('list the agents that have enrolled, and the codes that nobody has used yet')
    .option('--json', 'print JSON, with times in UTC')
    .action(async (options: ServiceOptions & Json) => {
      const all = await (await connect(options)).ofAgents(enrolledAgents, 'GET', '/enrolled');
      if (options.json) return printJson(all);
      printLine(listed(all));
    });
  return [invite, enroll, list, revoke];
}

function listed({ agents, invitations }: EnrolledAgents): string {
  const short = shortIds(agents.map(({ id }) => id));
  const rows = agents.map((agent) => [
    short.get(agent.id) ?? agent.id,
    agent.name,
    agent.tenant ?? 'every tenant',
    stateOf(agent),
  ]);
  const waiting = invitations.map(({ name, tenant, expiresAt }) => [
    '',
    name,
    tenant ?? 'every tenant',
    `invited; its code works until ${localTime(expiresAt)}`,
  ]);
  return table(['ID', 'NAME', 'FOR', 'STATE'], [...rows, ...waiting]);
}

function stateOf({ revokedAt, connectedSince, refused }: EnrolledAgents['agents'][number]): string {
  if (revokedAt !== null) return `revoked at ${localTime(revokedAt)}`;
  if (refused !== null) {
    const why = Object.entries(GOODBYES).find(([code]) => code === refused.code)?.[1] ?? refused.code;
    const one = `refused at ${localTime(refused.at)}: ${why}`;
    return connectedSince === null ? one : `connected; another one ${one}`;
  }
  return connectedSince === null ? 'not connected' : `connected since ${localTime(connectedSince)}`;
}
