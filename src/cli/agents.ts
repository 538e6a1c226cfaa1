import { Command } from 'commander';
import type { AgentView } from '../contract/printer-view.ts';
import { connect } from './admin-client.ts';
import { printJson, printLine, printParagraph, table } from './output.ts';
import { shortIds } from './short-id.ts';
import { localTime } from './times.ts';
import { type ServiceOptions, withService } from './which-service.ts';

/** `platen agents` */
export function agentsCommand(): Command {
  return withService(new Command('agents'))
    .description('list the agents, and the printers of their configuration that were never reached')
    .option('--tenant <id>', 'only those whose printers this tenant may use')
    .option('--json', 'print JSON, with times in UTC')
    .action(async (options: ServiceOptions & { tenant?: string; json?: true }) => {
      const agents = await (await connect(options)).agents(options.tenant);
      if (options.json) return printJson(agents);
      const short = shortIds(agents.map(({ id }) => id));
      const rows = agents.map((agent) => [
        short.get(agent.id) ?? agent.id,
        agent.name,
        agent.online ? 'online' : 'offline',
        localTime(agent.seenAt),
        String(agent.printers),
        agent.tenant ?? 'every tenant',
        agent.version,
      ]);
      printLine(table(['ID', 'NAME', 'STATUS', 'LAST HEARD', 'PRINTERS', 'FOR', 'VERSION'], rows));
      if (!agents.some(({ online }) => online)) printParagraph(noAgent(agents));
      const missed = unreachedRows(agents);
      if (missed.length > 0) printLine(`\nNever reached yet:\n${table(UNREACHED, missed)}`);
    });
}

/** Explains that no agent is online, so that nothing is printed. */
export function noAgent(agents: readonly AgentView[]): string {
  const [last] = agents.toSorted((a, b) => b.seenAt.localeCompare(a.seenAt));
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
