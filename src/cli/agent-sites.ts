/** `platen agent invite|withdraw|enroll|show|approve|refuse|rename|move|revoke|forget`: agents at other sites. */
import { Command, Option } from 'commander';
import { z } from 'zod';
import { isLoopback } from '../../drivers/address.ts';
import {
  type AgentView,
  invitationMade,
  openInvitation,
  printersDecided,
  waitsOutside,
} from '../contract/agent-view.ts';
import { type AdminClient, connect } from './admin-client.ts';
import { shown } from './agents.ts';
import { enrollAgent } from './enrolment.ts';
import { CommandFailure, EXIT } from './failure.ts';
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
  const withdraw = withService(new Command('withdraw'))
    .description('have the code of an invitation that nobody has used work no longer')
    .argument(
      '<invitation>',
      'what the agent was to be called, or the beginning of the invitation\'s ID ("platen agents")',
    )
    .option('--json', 'print JSON')
    .action(async (asked: string, options: ServiceOptions & Json) => {
      const client = await connect(options);
      const open = await client.ofAgents(z.array(openInvitation), 'GET', '/invitations');
      const found = open.filter(
        ({ id, name }) => name === asked || (asked.length > 3 && id.startsWith(asked)),
      );
      const [one] = found;
      if (one === undefined)
        throw new CommandFailure(`No open invitation is for ${asked}: see "platen agents".`);
      if (found.length > 1) {
        const ids = found.map(({ id, expiresAt }) => `${id}, until ${localTime(expiresAt)}`);
        throw new CommandFailure(`Several are for ${asked}: say which ID\n  ${ids.join('\n  ')}`);
      }
      await client.ofAgents(z.unknown(), 'DELETE', `/invitations/${one.id}`);
      options.json ? printJson({ id: one.id }) : printLine(`the code for ${one.name} works no longer`);
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
  const show = ofAgent('show', 'say what is known of an agent').action(
    async (asked: string, options: ServiceOptions & Json) => {
      const { client, agent } = await theAgent(asked, options);
      if (options.json) return printJson(agent);
      const printers = (await client.printers()).filter(({ agents }) =>
        agents.some(({ id }) => id === agent.id),
      );
      printLine(shown(agent, printers));
    },
  );
  const rename = ofAgent('rename', 'call an agent at another site otherwise')
    .argument('<name>', 'the new name; it counts whatever the agent itself says')
    .action(async (asked: string, name: string, options: ServiceOptions & Json) => {
      const { client, agent } = await theAgent(asked, options);
      await client.ofAgents(z.unknown(), 'PUT', pathOf(agent, 'name'), { name });
      options.json ? printJson({ id: agent.id, name }) : printLine(`${agent.id} is called ${name}`);
    });
  const move = ofAgent(
    'move',
    'give an agent at another site to another tenant, once it has finished what it has in hand',
  )
    .option('--tenant <id>', 'the tenant whose printers it has from then on')
    .option('--shared', 'its printers are for every tenant from then on')
    .action(async (asked: string, options: ServiceOptions & Json & { tenant?: string; shared?: true }) => {
      const { tenant, shared, json } = options;
      if ((tenant === undefined) === (shared === undefined)) {
        throw new CommandFailure('Say whose it is to be: --tenant <id>, or --shared.', EXIT.usage);
      }
      const { client, agent } = await theAgent(asked, options);
      await client.ofAgents(z.unknown(), 'POST', pathOf(agent, 'move'), { tenant: tenant ?? null });
      const whose = tenant === undefined ? 'shared' : `${tenant}'s`;
      json
        ? printJson({ id: agent.id, tenant: tenant ?? null })
        : printLine(
            `${agent.name} is ${whose} as soon as it has finished what it has in hand, and is connected`,
          );
    });
  const revoke = ofAgent(
    'revoke',
    'let an agent that has enrolled join no more; whatever it prints ends at once',
  ).action(async (asked: string, options: ServiceOptions & Json) => {
    const { client, agent } = await theAgent(asked, options);
    await client.ofAgents(z.unknown(), 'POST', pathOf(agent, 'revoke'));
    options.json ? printJson({ id: agent.id, revoked: true }) : printLine(`${agent.id} is revoked`);
  });
  const forget = ofAgent(
    'forget',
    'take one off the list that comes no more: a revoked one, or one that never enrolled and has been away for a day',
  ).action(async (asked: string, options: ServiceOptions & Json) => {
    const { client, agent } = await theAgent(asked, options);
    await client.ofAgents(z.unknown(), 'DELETE', `/${encodeURIComponent(agent.id)}`);
    options.json ? printJson({ id: agent.id, forgotten: true }) : printLine(`${agent.name} is forgotten`);
  });
  const approve = withService(new Command('approve'))
    .description('have an agent get the jobs of printers that it brought, or let it in')
    .argument('[agent]', AGENT)
    .argument('[printers...]', PRINTERS)
    .option(
      '--restored',
      'let all in that have enrolled since the back-up from which the service was restored',
    )
    .option('--json', 'print JSON')
    .action(
      async (
        asked: string | undefined,
        printers: string[],
        { restored, ...options }: ServiceOptions & Json & { restored?: true },
      ) => {
        if ((asked === undefined) === (restored === undefined)) {
          throw new CommandFailure('Say which agent, or --restored.', EXIT.usage);
        }
        if (asked === undefined) await letInRestored(options);
        else await decide('approved', asked, printers, options);
      },
    );
  const refuse = ofAgent('refuse', 'have an agent get no jobs of printers that it brought')
    .argument('[printers...]', PRINTERS)
    .action((asked: string, printers: string[], options: ServiceOptions & Json) =>
      decide('refused', asked, printers, options),
    );
  return [invite, withdraw, enroll, show, approve, refuse, rename, move, revoke, forget];
}

const PRINTERS = 'IDs of its printers, as "platen agent show" shows them; by default all that wait';
const AGENT = 'the agent: its name, its ID, or as much of its beginning as no other has ("platen agents")';

function ofAgent(name: string, description: string): Command {
  return withService(new Command(name))
    .description(description)
    .argument('<agent>', AGENT)
    .option('--json', 'print JSON');
}

/** @throws CommandFailure where there is none, or several are called so */
async function theAgent(
  asked: string,
  options: ServiceOptions,
): Promise<{ client: AdminClient; agent: AgentView }> {
  const client = await connect(options);
  const agents = await client.agents();
  const named = agents.filter(({ name }) => name === asked).map(({ id }) => id);
  if (named.length > 1) {
    throw new CommandFailure(`Several agents are called ${asked}: say which ID\n  ${named.join('\n  ')}`);
  }
  const all = agents.map(({ id }) => id);
  const id = named[0] ?? wholeId('agents', asked, all);
  const agent = agents.find((one) => one.id === id);
  if (agent !== undefined) return { client, agent };
  throw new CommandFailure(`No agent is called ${asked}, or has this ID: "platen agents" lists them.`);
}

function pathOf({ id }: AgentView, what: string): string {
  return `/${encodeURIComponent(id)}/${what}`;
}

async function decide(
  state: 'approved' | 'refused',
  asked: string,
  printers: readonly string[],
  options: ServiceOptions & Json,
): Promise<void> {
  const { client, agent } = await theAgent(asked, options);
  const body = { state, ...(printers.length > 0 && { printers }) };
  const decided = await client.ofAgents(printersDecided, 'POST', pathOf(agent, 'printers'), body);
  const letIn = state === 'approved' && printers.length === 0 && waitsOutside(agent);
  if (letIn) await client.ofAgents(z.unknown(), 'POST', pathOf(agent, 'let-in'));
  if (options.json) return printJson({ id: agent.id, letIn, ...decided });
  if (letIn) printLine(`${agent.name} is let in within a minute; what it had begun is held for a person`);
  printLine(`${state}: ${decided.printers.length === 0 ? 'no printer' : decided.printers.join(', ')}`);
}

/** `platen agent approve --restored` */
async function letInRestored({ json, ...options }: ServiceOptions & Json): Promise<void> {
  const client = await connect(options);
  const waiting = (await client.agents()).filter(({ enrolled }) => enrolled?.ahead?.waits === true);
  for (const agent of waiting) await client.ofAgents(z.unknown(), 'POST', pathOf(agent, 'let-in'));
  if (json) return printJson({ letIn: waiting.map(({ id }) => id) });
  const names = waiting.map(({ name, id }) => `${name} (${id})`);
  printLine(
    names.length === 0
      ? 'no agent waits that has enrolled since a back-up'
      : `let in within a minute; what they had begun is held for a person:\n  ${names.join('\n  ')}`,
  );
}
