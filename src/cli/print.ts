import { Command, InvalidArgumentError } from 'commander';
import type { TemplateView } from '../contract/admin.ts';
import type { PrintRequestInput } from '../contract/print-request.ts';
import { orientation } from '../contract/print-request.ts';
import { type AdminClient, connect } from './admin-client.ts';
import { CommandFailure, EXIT } from './failure.ts';
import { readDocument, readRecords } from './input-file.ts';
import { followFor, nextStep } from './job-progress.ts';
import { numberFrom } from './option-values.ts';
import { printJson, printLine } from './output.ts';
import { wholeId } from './short-id.ts';
import { type ServiceOptions, withService } from './which-service.ts';

export interface RouteOptions extends ServiceOptions {
  tenant: string;
  printer?: string;
  printerId?: string;
  format?: string;
  orientation?: string;
  copies?: number;
}
interface PrintOptions extends RouteOptions {
  records?: string;
  document?: string;
  field: [string, string][];
  wait?: true;
  timeout: number;
  json?: true;
}

function fieldValue(text: string, fields: [string, string][]): [string, string][] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('expected name=value');
  const name = text.slice(0, at);
  if (fields.some(([other]) => other === name))
    throw new InvalidArgumentError(`field ${name} is given twice`);
  return [...fields, [name, text.slice(at + 1)]];
}

/** What a template may be named by. */
export const TEMPLATE = 'name or ID of a saved template; of an ID as much of its beginning as no other has';

/** Adds the options that say where and how a request is printed. */
export function withRoute(command: Command): Command {
  return withService(command)
    .option('--tenant <id>', 'the tenant', 'default')
    .option('--printer <name>', 'printer name')
    .option('--printer-id <id>', 'printer ID, or how it begins (see "platen printers")')
    .option('--format <format>', "printer format, by name or ID; the printer's default otherwise")
    .option('--orientation <orientation>', orientation.options.join(' or '))
    .option('--copies <n>', 'copies of each record', numberFrom(1));
}

/** Adds the arguments and options that a print request is made from. */
function withRequest(command: Command): Command {
  return withRoute(command)
    .argument('<template>', TEMPLATE)
    .option('--records <file>', 'JSON file with an array of records; "-" reads standard input')
    .option(
      '--document <file>',
      'a file to print with a document template: PDF, PNG, JPEG, ZPL, EPL2 or TSPL2; "-" reads standard input',
    )
    .option('--field <name=value>', 'a value of a single record; repeat it for more fields', fieldValue, [])
    .option('--json', 'print JSON');
}

/** Whoever lists the printers of a tenant. */
interface PrinterLister {
  printers(tenant: string): Promise<readonly { id: string }[]>;
}

/** A request but for its template and its records. @throws CommandFailure for options that name no route */
export async function routeOf(
  client: PrinterLister,
  options: RouteOptions,
): Promise<Omit<PrintRequestInput, 'idT' | 'data'>> {
  if (options.printer === undefined && options.printerId === undefined) {
    throw new CommandFailure('Say where: --printer or --printer-id; see "platen printers".', EXIT.usage);
  }
  const chosen = orientation.optional().safeParse(options.orientation);
  if (!chosen.success) {
    throw new CommandFailure(`--orientation: expected ${orientation.options.join(' or ')}`, EXIT.usage);
  }
  return {
    ...(options.printerId === undefined
      ? {}
      : { printerId: await printerIdOf(client, options.tenant, options.printerId) }),
    ...(options.printer === undefined ? {} : { printer: options.printer }),
    ...(options.format === undefined ? {} : { format: options.format }),
    ...(chosen.data === undefined ? {} : { orientation: chosen.data }),
    ...(options.copies === undefined ? {} : { numberCopies: options.copies }),
  };
}

async function printRequestOf(
  client: AdminClient,
  template: string,
  options: PrintOptions,
): Promise<PrintRequestInput> {
  if (options.records !== undefined && (options.field.length > 0 || options.document !== undefined)) {
    throw new CommandFailure('Give --records, or --field and --document.', EXIT.usage);
  }
  const route = await routeOf(client, options);
  const idT = await templateIdOf(client, options.tenant, template);
  if (options.records !== undefined) return { idT, ...route, data: await readRecords(options.records) };
  const document = options.document === undefined ? {} : await documentOf(client, options, idT);
  const record = { ...Object.fromEntries(options.field), ...document };
  return { idT, ...route, ...(Object.keys(record).length > 0 && { data: [record] }) };
}

/** The file as the value of the field that the template has for documents. @throws CommandFailure */
async function documentOf(
  client: AdminClient,
  { tenant, document = '-' }: PrintOptions,
  idT: string,
): Promise<Record<string, string>> {
  const { name, language, fields } = await client.template(tenant, idT);
  const [field] = fields;
  if (language !== 'document' || field === undefined) {
    throw new CommandFailure(`Template "${name}" prints no documents: its language is "${language}".`);
  }
  return { [field]: await readDocument(document) };
}

/** The ID of a template that is named by its ID, by a name that no other has, or by how its ID begins. */
export async function templateIdOf(client: AdminClient, tenant: string, idOrName: string): Promise<string> {
  return idAmong(await client.templates(tenant), idOrName);
}

/** The same of templates that the caller has. */
export function idAmong(templates: readonly Pick<TemplateView, 'id' | 'name'>[], idOrName: string): string {
  if (templates.some((one) => one.id === idOrName)) return idOrName;
  const named = templates.filter((one) => one.name === idOrName);
  if (named.length > 1) {
    const ids = named.map((one) => one.id).join(', ');
    throw new CommandFailure(`${named.length} templates are named "${idOrName}": give an ID, one of ${ids}`);
  }
  return (
    named[0]?.id ??
    wholeId(
      'templates',
      idOrName,
      templates.map(({ id }) => id),
    )
  );
}

async function printerIdOf(client: PrinterLister, tenant: string, begun: string): Promise<string> {
  const printers = await client.printers(tenant);
  return wholeId(
    'printers',
    begun,
    printers.map(({ id }) => id),
  );
}

/** `platen print`: a job with the deployment's own authority. */
export function printCommand(): Command {
  return withRequest(new Command('print'))
    .description('print labels from a saved template')
    .option('--wait', 'stay until the labels are out, showing progress; exit code 1 if they are not')
    .option('--timeout <seconds>', 'how long --wait waits', numberFrom(1, 1_000_000), 3600)
    .action(async (template: string, options: PrintOptions) => {
      const client = await connect(options);
      const request = await printRequestOf(client, template, options);
      const { id, warnings } = await client.enqueue(options.tenant, request);
      for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`);
      if (warnings.length > 0) process.stderr.write('"platen validate" with the same options says where.\n');
      if (!options.wait) return options.json ? printJson({ id }) : printLine(id);
      const job = await followFor(client, id, options.timeout);
      options.json ? printJson(job) : printLine(job.id);
      if (job.status !== 'printed') throw new CommandFailure(`Job ${id} is ${job.status}.${nextStep(job)}`);
    });
}

/** `platen validate`: the same checks, without effects. */
export function validateCommand(): Command {
  return withRequest(new Command('validate'))
    .description('check a print request without printing')
    .action(async (template: string, options: PrintOptions) => {
      const client = await connect(options);
      const result = await client.validate(options.tenant, await printRequestOf(client, template, options));
      if (options.json) return printJson(result);
      const { route } = result;
      printLine(
        `valid: ${result.labels} ${result.labels === 1 ? 'label' : 'labels'}, ${route.printer} (${route.printerId}), ${route.format.name}`,
      );
      for (const { message, code, record, field } of result.warnings) {
        const place = [
          ...(record === undefined ? [] : [`record ${record + 1}`]),
          ...(field === undefined ? [] : [`field "${field}"`]),
        ];
        printLine(`warning: ${place.length === 0 ? '' : `${place.join(', ')}: `}${message} [${code}]`);
      }
    });
}
