import { Command } from 'commander';
import type { PrinterDetails } from '../contract/printer-actions.ts';
import type { PrinterView } from '../contract/printer-view.ts';
import { type AdminClient, connect } from './admin-client.ts';
import { CommandFailure } from './failure.ts';
import { show } from './job-bulk.ts';
import { followFor, nextStep } from './job-progress.ts';
import { numberFrom } from './option-values.ts';
import { printJson, printLine } from './output.ts';
import { wholeId } from './short-id.ts';
import { localTime } from './times.ts';
import { type ServiceOptions, withService } from './which-service.ts';

interface Options extends ServiceOptions {
  tenant?: string;
  why?: string;
  yes?: true;
  printing?: true;
  json?: true;
}

type ForTenants = Omit<Options, 'tenant'> & { tenant: string[] };

const PRINTER = 'the printer: its name, its ID, or as much of its beginning as no other has';

/** `platen printer hold|resume|clear|rename|set|hide|show|offer|withdraw|grant|revoke|share|forget|test` */
export function printerCommand(): Command {
  const command = new Command('printer').description(
    'what a person does to a printer: hold, resume, clear, rename, set, hide, show, offer, withdraw, grant, revoke, share, forget, test',
  );
  const onPrinter = (name: string, description: string) =>
    withService(command.command(name))
      .description(description)
      .argument('<printer>', PRINTER)
      .option('--tenant <id>', 'of this tenant, or a shared one; needed where several have one of that name')
      .option('--json', 'print JSON');

  onPrinter('hold', 'have its jobs wait; what its agent has begun is printed')
    .option('--why <text>', 'why, for whoever looks at it later')
    .action(async (asked: string, options: Options) => {
      const { client, printer } = await thePrinter(asked, options);
      told(await client.holdPrinter(printer, options.why), options);
    });

  onPrinter('clear', 'cancel all jobs that wait for it')
    .option('--printing', 'the job in progress, too: it stops at the end of a label')
    .option('--why <text>', 'why, for whoever looks at the jobs later')
    .option('--yes', 'do it; without it only the jobs are shown')
    .action(async (asked: string, options: Options) => {
      const { client, printer } = await thePrinter(asked, options);
      const { printing, why, yes } = options;
      const result = await client.clearPrinter(printer, {
        dryRun: yes !== true,
        printing: printing === true,
        ...(why !== undefined && { why }),
      });
      show(result, options);
      if (!yes && result.jobs.length > 0)
        throw new CommandFailure('Nothing is done yet; with --yes these jobs are canceled.');
      if (result.more) throw new CommandFailure('More jobs wait for it: do it again.');
    });

  onPrinter('rename', 'call it otherwise; jobs may be sent to its new name')
    .argument('[name]', 'the new name; left out: as its agent calls it')
    .action(async (asked: string, name: string | undefined, options: Options) => {
      const { client, printer } = await thePrinter(asked, options);
      told(await client.renamePrinter(printer, name ?? null), options);
    });

  onPrinter('set', 'how it is set for the jobs from now on; without a setting, what can be set and what is')
    .argument(
      '[settings...]',
      '"darkness=18", "label-top=-8", …; "darkness=" for as its agent or the printer itself has it',
    )
    .action(async (asked: string, changes: string[], options: Options) => {
      const { client, printer } = await thePrinter(asked, options);
      const { changed, settingLines } = await import('./printer-settings.ts');
      const now = await client.printer(printer);
      const set = changes.length === 0 ? now : await client.setPrinter(printer, changed(now, changes));
      options.json ? printJson(set.settings) : settingLines(set).forEach(printLine);
    });

  for (const [word, says] of [
    ['resume', 'have a held printer go on'],
    ['hide', 'offer it no more where a printer is chosen; jobs that name it are printed all the same'],
    ['show', 'offer a hidden one again'],
    ['offer', 'offer it by IPP, to whoever has a key: CUPS, office programs, …; prints its address there'],
    ['withdraw', 'offer it by IPP no more; jobs that came so are printed all the same'],
  ] as const) {
    onPrinter(word, says).action(async (asked: string, options: Options) => {
      const { client, printer } = await thePrinter(asked, options);
      told(await client.actOnPrinter(printer, word), options);
    });
  }

  const onShared = (name: string, description: string) =>
    withService(command.command(name))
      .description(description)
      .argument('<printer>', PRINTER)
      .option('--json', 'print JSON');
  const BY_TENANT = ['--tenant <id...>', 'the tenants, by their IDs'] as const;

  onShared(
    'grant',
    'let these tenants use a shared printer, and no others but those that it is granted to already',
  )
    .requiredOption(...BY_TENANT)
    .action(async (asked: string, { tenant, ...options }: ForTenants) => {
      const { client, printer } = await thePrinter(asked, options, { shared: true });
      const { grantedTo } = await client.printer(printer);
      toldGrants(
        await client.grantPrinter(printer, [...new Set([...(grantedTo ?? []), ...tenant])]),
        options,
      );
    });
  onShared('revoke', 'take a grant back; the jobs of these tenants that wait are held')
    .requiredOption(...BY_TENANT)
    .action(async (asked: string, { tenant, ...options }: ForTenants) => {
      const { client, printer } = await thePrinter(asked, options, { shared: true });
      const { grantedTo } = await client.printer(printer);
      if (!grantedTo) {
        throw new CommandFailure(
          `${printer.name} is every tenant's: grant it to those that may use it, and to no others.`,
        );
      }
      const left = grantedTo.filter((id) => !tenant.includes(id));
      toldGrants(await client.grantPrinter(printer, left), options);
    });
  onShared('share', "make a shared printer that was granted every tenant's again").action(
    async (asked: string, options: Options) => {
      const { client, printer } = await thePrinter(asked, options, { shared: true });
      toldGrants(await client.grantPrinter(printer, null), options);
    },
  );

  onPrinter('forget', 'take one off the list that no agent has any more').action(
    async (asked: string, options: Options) => {
      const { client, printer } = await thePrinter(asked, options, { gone: true });
      await client.forgetPrinter(printer);
      options.json ? printJson({ id: printer.id }) : printLine(`${printer.id}  ${printer.name}  forgotten`);
    },
  );

  onPrinter('test', "print a label that says where it comes from; prints its job's ID")
    .option('--format <format>', "one of its formats, by name or ID; the printer's default otherwise")
    .option('--wait', 'stay until the label is out; exit code 1 if it is not')
    .option('--timeout <seconds>', 'how long --wait waits', numberFrom(1, 1_000_000), 3600)
    .action(async (asked: string, options: Options & { format?: string; wait?: true; timeout: number }) => {
      const { client, printer } = await thePrinter(asked, options);
      const { tenant = printer.tenant ?? 'default', format } = options;
      const id = await client.testPrinter(printer, { tenant, ...(format !== undefined && { format }) });
      if (!options.wait) return options.json ? printJson({ id }) : printLine(id);
      const job = await followFor(client, id, options.timeout);
      options.json ? printJson(job) : printLine(job.id);
      if (job.status !== 'printed') throw new CommandFailure(`Job ${id} is ${job.status}.${nextStep(job)}`);
    });
  return command;
}

/**
 * The printer that a person means, of those that an agent has and, for `gone`, of those that none has any
 * more; for `shared`, of those alone that no tenant has for itself.
 * @throws CommandFailure where there is none, or more than one
 */
async function thePrinter(
  asked: string,
  options: Options,
  { gone = false, shared = false }: { gone?: boolean; shared?: boolean } = {},
): Promise<{ client: AdminClient; printer: PrinterView }> {
  const client = await connect(options);
  const present = await client.printers(options.tenant);
  const all = gone ? [...(await client.printers(options.tenant, true)), ...present] : present;
  const printers = all.filter(({ tenant }) => !shared || tenant === null);
  const named = printers.filter(({ name }) => name === asked);
  const id = wholeId('printers', asked, [...new Set(printers.map((one) => one.id))]);
  const [printer, ...others] = named.length > 0 ? named : printers.filter((one) => one.id === id);
  if (printer === undefined) {
    const where = gone ? 'platen printers --gone' : 'platen printers';
    throw new CommandFailure(
      `There is no ${shared ? 'shared ' : ''}printer ${JSON.stringify(asked)}: see "${where}".`,
    );
  }
  if (others.length === 0) return { client, printer };
  const meant = [printer, ...others].map((one) => `${one.id} (${one.tenant ?? 'shared'})`).join('\n  ');
  throw new CommandFailure(
    `Several printers are meant by ${JSON.stringify(asked)}: give an ID${shared ? '' : ' or --tenant'}.\n  ${meant}`,
  );
}

function toldGrants(printer: PrinterDetails, { json }: Options): void {
  const { id, name, grantedTo } = printer;
  const whose = grantedTo ? `for ${grantedTo.join(', ') || 'no tenant'}` : 'for every tenant';
  json ? printJson(printer) : printLine(`${id}  ${name}  ${whose}`);
}

function told(printer: PrinterDetails, { json }: Options): void {
  const { id, name, held, hidden, jobs, ipp } = printer;
  const hold =
    held === null
      ? 'not held'
      : `held by ${held.by} since ${localTime(held.at)}${held.why === null ? '' : `: ${held.why}`}`;
  json
    ? printJson(printer)
    : printLine(
        `${id}  ${name}  ${hidden ? 'hidden, ' : ''}${hold}  ${jobs.queued} waiting${typeof ipp === 'string' ? `  ${ipp}` : ''}`,
      );
}
