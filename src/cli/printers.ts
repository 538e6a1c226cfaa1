import { Command } from 'commander';
import type { AgentView } from '../contract/agent-view.ts';
import type { PrinterView } from '../contract/printer-view.ts';
import { connect } from './admin-client.ts';
import { noAgent, UNREACHED, unreachedRows } from './agents.ts';
import { confirmedText, HELD } from './confirmed-by.ts';
import { printJson, printLine, printParagraph, table } from './output.ts';
import { shortIds } from './short-id.ts';
import { type ServiceOptions, withService } from './which-service.ts';

type Options = ServiceOptions & { tenant?: string; gone?: true; hidden?: true; json?: true };

/** `platen printers` */
export function printersCommand(): Command {
  return withService(new Command('printers'))
    .description('list the printers that agents have reported')
    .option('--tenant <id>', 'only those that this tenant may use')
    .option('--hidden', 'those that people have hidden: jobs may name them all the same')
    .option('--gone', 'those that no agent has any more, and that nobody has forgotten')
    .option('--json', 'print JSON')
    .action(async (options: Options) => {
      const client = await connect(options);
      const all = await client.printers(options.tenant, options.gone);
      const printers = all.filter(({ hidden }) => options.gone || hidden === (options.hidden === true));
      if (options.json) return printJson(options.hidden ? printers : all);
      const short = shortIds(printers.map(({ id }) => id));
      const rows = printers.map((printer) => [
        short.get(printer.id) ?? printer.id,
        printer.name,
        [printer.status, ...printer.reasons.filter((reason) => reason !== printer.status)].join(', '),
        formatsText(printer),
        confirmedText(printer.confirmedBy),
        printer.agents.map((agent) => agentText(agent, printer.agents.length)).join(', '),
      ]);
      printLine(table(['ID', 'NAME', 'STATUS', 'FORMATS', 'CONFIRMED BY', 'AGENTS'], rows));
      if (options.gone || options.hidden) return;
      const others = all.length - printers.length;
      if (others > 0) printParagraph(`Hidden: ${others}. "platen printers --hidden" lists them.`);
      const granted = printers.flatMap(({ name, grantedTo }) =>
        grantedTo ? [[name, grantedTo.join(', ') || 'none']] : [],
      );
      if (granted.length > 0) printLine(`\nFor some tenants only:\n${table(['NAME', 'TENANTS'], granted)}`);
      if (printers.some(({ confirmedBy }) => confirmedBy === 'person')) printParagraph(HELD);
      const agents = await client.agents(options.tenant);
      const why = all.length === 0 ? whyNoPrinters(agents) : null;
      if (why !== null) printParagraph(why);
      const missed = unreachedRows(agents);
      if (missed.length > 0) printLine(`\nNever reached yet:\n${table(UNREACHED, missed)}`);
    });
}

/** null: the list of printers that were never reached says why. */
function whyNoPrinters(agents: readonly AgentView[]): string | null {
  const online = agents.filter((agent) => agent.online);
  if (online.length === 0) return noAgent(agents);
  if (online.some(({ unreached }) => unreached.length > 0)) return null;
  const names = online.map(({ name }) => name).join(', ');
  return `No printer was found by ${names}, and none is configured: "platen discover", on that machine, says what it sees.`;
}

/** The first format is used where a job names none. */
function formatsText({ formats: [first, ...others] }: PrinterView): string {
  if (first === undefined) return '';
  return others.length === 0 ? first.name : `${first.name}, +${others.length}`;
}

/** Of several agents that reach a printer, one serves it. */
function agentText({ name, online, serves }: PrinterView['agents'][number], count: number): string {
  if (!online) return `${name} (offline)`;
  return serves === true && count > 1 ? `${name} (serves it)` : name;
}
