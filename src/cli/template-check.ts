import { Command } from 'commander';
import { type Template, templateSchemaFor } from '../contract/template.ts';
import type { TemplateProblem } from '../contract/template-problem.ts';
import { templateRemains } from '../contract/template-remains.ts';
import { type CheckTarget, templateProblems } from '../render/template-check.ts';
import { CommandFailure, EXIT } from './failure.ts';
import { readTemplateSource } from './input-file.ts';
import { numberFrom } from './option-values.ts';
import { forTerminal, printJson, printLine } from './output.ts';

interface CheckOptions {
  dpi?: number;
  media?: string;
  allowPrinterCommands?: true;
  json?: true;
}

/** `platen template check` */
export function checkCommand(): Command {
  return new Command('check')
    .description('look for faults in a template file; exit code 1 when it has errors')
    .argument('<file>', 'template file: Platen JSON, or raw .zpl')
    .option('--dpi <dpi>', 'for printers of this resolution only', numberFrom(50, 2400))
    .option('--media <size>', 'for media of this size, mm: 101.6x152.4 (with --dpi)')
    .option('--allow-printer-commands', 'as for a tenant whose raw templates may set printers up')
    .option('--json', 'print JSON')
    .action(async (file: string, options: CheckOptions) => {
      const problems = await problemsIn(await readTemplateSource(file), options);
      const errors = problems.filter(({ severity }) => severity === 'error').length;
      if (options.json) printJson(problems);
      else {
        for (const problem of problems) printProblem(problem);
        const warnings = problems.length - errors;
        printLine(problems.length === 0 ? 'No faults found.' : `${errors} errors, ${warnings} warnings`);
      }
      if (errors > 0) process.exitCode = EXIT.failed;
    });
}

/** On stderr, so that stdout has only the result of the command. */
export function printProblem({ severity, code, pointer, message }: TemplateProblem): void {
  process.stderr.write(forTerminal(`${severity} ${pointer || '/'}: ${message} (${code})\n`));
}

async function problemsIn(source: unknown, options: CheckOptions): Promise<TemplateProblem[]> {
  const parsed = templateSchemaFor(source).safeParse(source);
  if (parsed.success) {
    const rules = { printerCommands: options.allowPrinterCommands ?? false };
    return await templateProblems(parsed.data, targetOf(parsed.data, options), undefined, rules);
  }
  const { issues } = parsed.error;
  const faults: TemplateProblem[] = issues.map(({ path, message }) => ({
    severity: 'error',
    code: 'template-invalid',
    pointer: path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''),
    message,
  }));
  const remains = templateRemains(source, issues);
  if (remains === undefined) return faults;
  const { template } = remains;
  const more = await templateProblems(template, targetOf(template, options));
  return [
    ...faults,
    ...more.filter(({ severity, pointer }) => severity === 'error' && !remains.isLost(pointer)),
  ];
}

function targetOf(template: Template, { dpi, media }: CheckOptions): CheckTarget | undefined {
  const size = media === undefined ? undefined : /^(\d+(?:\.\d+)?)x(\d+(?:\.\d+)?)$/.exec(media);
  if (size === null) throw new CommandFailure('--media is width x height in mm: 101.6x152.4', EXIT.usage);
  if (dpi === undefined) {
    if (size !== undefined) throw new CommandFailure('--media needs --dpi', EXIT.usage);
    return undefined;
  }
  const [width = template.width, height = template.height] = size?.slice(1).map(Number) ?? [];
  return { dpi, ...(width !== undefined && { width }), ...(height !== undefined && { height }) };
}
