import { Command } from 'commander';
import { z } from 'zod';
import { type AgentView, type OpenInvitation, openInvitation } from '../contract/agent-view.ts';
import { GOODBYES } from '../contract/gateway.ts';
import type { PrinterView } from '../contract/printer-view.ts';
import { connect } from './admin-client.ts';
import { printJson, printLine, printParagraph, table } from './output.ts';
import { shortIds } from './short-id.ts';
import { localTime } from './times.ts';
import { type ServiceOptions, withService } from './which-service.ts';

/** `platen agents` */
export function agentsCommand(): Command {
  return withService(new Command('agents'))
    .description(
      'list the agents, the codes that nobody has used yet, and printers that wait or were never reached',
    )
    .option('--tenant <id>', 'only those whose printers this tenant may use')
    .option('--json', 'print JSON, with times in UTC')
    .action(async (options: ServiceOptions & { tenant?: string; json?: true }) => {
      const client = await connect(options);
      const agents = await client.agents(options.tenant);
      if (options.json) return printJson(agents);
      const query = options.tenant === undefined ? '' : `?tenant=${encodeURIComponent(options.tenant)}`;
      const open = await client.ofAgents(z.array(openInvitation), 'GET', `/invitations${query}`);
      printLine(listed(agents, open));
      if (!agents.some(({ online }) => online)) printParagraph(noAgent(agents));
      const restored = restoredWords(agents);
      if (restored !== undefined) printParagraph(restored);
      const notServed = notServedRows(agents);
      if (notServed.length > 0) {
        printLine(`\nPrinters that agents brought, and get no jobs of:\n${table(NOT_SERVED, notServed)}`);
      }
      const missed = unreachedRows(agents);
      if (missed.length > 0) printLine(`\nNever reached yet:\n${table(UNREACHED, missed)}`);
    });
}

function listed(agents: readonly AgentView[], open: readonly OpenInvitation[]): string {
  const short = shortIds(agents.map(({ id }) => id));
  const rows = agents.map((agent) => [
    short.get(agent.id) ?? agent.id,
    agent.name,
    stateOf(agent),
    agent.seenAt === null ? 'never' : localTime(agent.seenAt),
    String(agent.printers),
    agent.tenant ?? EVERY,
    versionOf(agent),
  ]);
  const ofCodes = shortIds(open.map(({ id }) => id));
  const waiting = open.map(({ id, name, tenant, expiresAt }) => [
    ...[
      ofCodes.get(id) ?? id,
      name,
      `invited; its code works until ${localTime(expiresAt)}`,
      '',
      '',
      tenant ?? EVERY,
      '',
    ],
  ]);
  return table(['ID', 'NAME', 'STATUS', 'LAST HEARD', 'PRINTERS', 'FOR', 'VERSION'], [...rows, ...waiting]);
}

const EVERY = 'every tenant';

function versionOf({ version, wentBackFrom }: AgentView): string {
  return wentBackFrom === null ? (version ?? '') : `${version ?? ''} (${wentBackFrom} went back)`;
}

function stateOf({ online, enrolled }: AgentView): string {
  if (enrolled !== null && enrolled.revokedAt !== null) return `revoked at ${localTime(enrolled.revokedAt)}`;
  if (enrolled?.moves) return `${online ? 'online' : 'offline'}; is to be another tenant's`;
  const refused = enrolled?.refused ?? null;
  const connected = enrolled === null ? online : enrolled.connectedSince !== null;
  if (refused === null) return connected ? 'online' : 'offline';
  const why = Object.entries(GOODBYES).find(([code]) => code === refused.code)?.[1] ?? refused.code;
  const one = `refused at ${localTime(refused.at)}: ${why}`;
  return connected ? `online; another one ${one}` : one;
}

/** What `platen agent show` says. */
export function shown(agent: AgentView, printers: readonly PrinterView[]): string {
  const { enrolled } = agent;
  const facts = [
    ['name', agent.name],
    ['ID', agent.id],
    ['for', agent.tenant ?? EVERY],
    ['status', stateOf(agent)],
    ['version', versionOf(agent) || 'not known: it has never reported'],
    ['last heard', agent.seenAt === null ? 'never' : localTime(agent.seenAt)],
    ['comes by', enrolled === null ? "the queues' own server" : 'https, as an agent at another site'],
    ...(enrolled === null ? [] : [['enrolled', localTime(enrolled.at)]]),
    ...(enrolled?.connectedSince ? [['connected since', localTime(enrolled.connectedSince)]] : []),
  ];
  const has = printers.map(({ id, name, status }) => [id, name, status]);
  const not = notServedRows([agent]).map(([, ...rest]) => rest);
  const missed = unreachedRows([agent]).map(([uri, name, , why]) => [uri ?? '', name ?? '', why ?? '']);
  return [
    facts.map(([what = '', value = '']) => `${what.padEnd(16)} ${value}`).join('\n'),
    ...(has.length > 0 ? [`Printers:\n${table(['ID', 'NAME', 'STATUS'], has)}`] : []),
    ...(not.length > 0 ? [`Gets no jobs of:\n${table(NOT_SERVED.slice(1), not)}`] : []),
    ...(missed.length > 0 ? [`Never reached yet:\n${table(['ADDRESS', 'NAME', 'WHY'], missed)}`] : []),
  ].join('\n\n');
}

const NOT_SERVED = ['AGENT', 'PRINTER', 'NAME', 'STATE'];

function notServedRows(agents: readonly AgentView[]): string[][] {
  const short = shortIds(agents.map(({ id }) => id));
  return agents.flatMap(({ id: agent, enrolled }) =>
    (enrolled?.notServed ?? []).map(({ id, name, state, since }) => [
      ...[short.get(agent) ?? agent, id, name],
      `${state === 'waiting' ? 'waits for "platen agent approve"' : 'refused'} since ${localTime(since)}`,
    ]),
  );
}

/** Undefined: no agent knows more than the database does. */
function restoredWords(agents: readonly AgentView[]): string | undefined {
  const ahead = agents.flatMap(({ enrolled }) => enrolled?.ahead ?? []);
  const [last] = ahead.map(({ at }) => at).toSorted((a, b) => b.localeCompare(a));
  if (last === undefined) return undefined;
  const waiting = ahead.filter(({ waits }) => waits).length;
  const wait = `${waiting} had not enrolled by then: "platen agent approve --restored" lets all of them in. Revoke those first that had been revoked since.`;
  return (
    `The service's database was restored to an earlier time: agents that knew more than it does: ${ahead.length}, the last one at ${localTime(last)}. ` +
    `What came in between is missing here.${waiting === 0 ? '' : ` Of them ${wait}`}`
  );
}

/** Explains that no agent is online, so that nothing is printed. */
export function noAgent(agents: readonly AgentView[]): string {
  const [last] = agents
    .flatMap(({ name, seenAt }) => (seenAt === null ? [] : [{ name, seenAt }]))
    .toSorted((a, b) => b.seenAt.localeCompare(a.seenAt));
  const heard =
    last === undefined
      ? 'No agent has ever reported to this service.'
      : `No agent reports: ${last.name} did last, at ${localTime(last.seenAt)}.`;
  return `${heard} One runs somewhere? Then it has another redisUrl or queuePrefix than the service: "platen doctor", on its machine, says which.`;
}

export const UNREACHED = ['ADDRESS', 'NAME', 'AGENT', 'WHY'];

/** An agent that is offline says nothing about what it would reach now. */
export function unreachedRows(agents: readonly AgentView[]): string[][] {
  return agents
    .filter(({ online }) => online)
    .flatMap((agent) => agent.unreached.map(({ uri, name = '', why }) => [uri, name, agent.name, why]));
}
