/** `platen agent invite|enroll|list|approve|refuse|revoke`: agents at other sites. */
import { Command, Option } from 'commander';
import { z } from 'zod';
import { isLoopback } from '../../drivers/address.ts';
import { GOODBYES } from '../contract/gateway.ts';
import {
  type EnrolledAgents,
  enrolledAgents,
  invitationMade,
  printersDecided,
} from '../contract/invitation.ts';
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
    .addOption(
      new Option(
        '--printers <which>',
        'which of its printers wait for "platen agent approve": those whose ID another agent has, or all',
      )
        .choices(['any', 'approve'])
        .default('any'),
    )
    .option('--json', 'print JSON')
    .action(async (options: ServiceOptions & Json & { name: string; tenant?: string; printers: string }) => {
      const { name, tenant, printers, json } = options;
      const asked = { name, printers, ...(tenant !== undefined && { tenant }) };
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
      const whole = await agentIdOf(client, id);
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
  const approve = decision('approve', 'approved', 'have an agent get the jobs of printers that it brought');
  const refuse = decision('refuse', 'refused', 'have an agent get no jobs of printers that it brought');
  return [invite, enroll, list, approve, refuse, revoke];
}

/** `platen agent approve|refuse` */
function decision(name: string, state: 'approved' | 'refused', description: string): Command {
  return withService(new Command(name))
    .description(description)
    .argument('<id>', 'the agent\'s ID, as "platen agent list" shows it')
    .argument(
      '[printers...]',
      'IDs of its printers, as "platen agent list" shows them; by default all that wait',
    )
    .option('--json', 'print JSON')
    .action(async (id: string, printers: string[], options: ServiceOptions & Json) => {
      const client = await connect(options);
      const whole = await agentIdOf(client, id);
      const path = `/${encodeURIComponent(whole)}/printers`;
      const asked = { state, ...(printers.length > 0 && { printers }) };
      const decided = await client.ofAgents(printersDecided, 'POST', path, asked);
      if (options.json) return printJson({ id: whole, ...decided });
      const shown = decided.printers.length === 0 ? 'no printer' : decided.printers.join(', ');
      printLine(`${state}: ${shown}`);
    });
}

/** The whole ID of an agent that has enrolled. */
async function agentIdOf(client: Awaited<ReturnType<typeof connect>>, id: string): Promise<string> {
  const { agents } = await client.ofAgents(enrolledAgents, 'GET', '/enrolled');
  const known = agents.map((agent) => agent.id);
  return wholeId('agents', id, known);
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
  const all = table(['ID', 'NAME', 'FOR', 'STATE'], [...rows, ...waiting]);
  const notServed = agents.flatMap((agent) =>
    agent.notServed.map((printer) => [
      ...[short.get(agent.id) ?? agent.id, printer.id, printer.name],
      `${printer.state === 'waiting' ? 'waits for "platen agent approve"' : 'refused'} since ${localTime(printer.since)}`,
    ]),
  );
  if (notServed.length === 0) return all;
  return `${all}\n\nPrinters that these agents brought, and get no jobs of:\n\n${table(['AGENT', 'PRINTER', 'NAME', 'STATE'], notServed)}`;
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
