/**
 * `platen doctor`: finds out why nothing prints. It makes the checks that a person would make first, each
 * after those that it depends on. Every finding that is not in order comes with advice.
 */
import { Command } from 'commander';
import { INSTALLED_FILES } from '../config-file.ts';
import { explain } from '../explain.ts';
import { CommandFailure } from '../failure.ts';
import { printJson, printLine } from '../output.ts';
import { withService } from '../which-service.ts';
import { writeBundle } from './bundle.ts';
import { enrolled } from './enrolled.ts';
import { type Finding, failed } from './finding.ts';
import { folders } from './folders.ts';
import { disk, permissions, program } from './machine.ts';
import { clock, names, proxy } from './network.ts';
import { heldJobs, jobsUnderWay, printers } from './printers.ts';
import { agents, lanes, metrics, service, unit } from './service.ts';
import { type Subject, type SubjectOptions, subjectOf } from './subject.ts';
import { testLabel } from './test-label.ts';

interface DoctorOptions extends SubjectOptions {
  print?: string;
  bundle?: string;
  json?: true;
}

const CHECKS: Readonly<Record<string, (subject: Subject) => Promise<Finding[]>>> = {
  program,
  permissions,
  disk,
  folders,
  clock,
  names,
  proxy,
  unit,
  service,
  'service elsewhere': enrolled,
  lanes,
  agents,
  metrics,
  printers,
  'jobs under way': jobsUnderWay,
  'jobs that need a person': heldJobs,
};

export function doctorCommand(): Command {
  return withService(new Command('doctor'))
    .description('say why it does not print: look at this machine, its service, its agents and printers')
    .option('--config <file>', `by default the one that is installed: ${INSTALLED_FILES.join(' or ')}`)
    .option('--print <printer>', 'print a test label on this printer, by its name or ID')
    .option(
      '--bundle <file>',
      'also write what a helper needs to know (.tar.gz), without secrets and label data',
    )
    .option('--json', 'print JSON')
    .action(async (options: DoctorOptions) => {
      const { subject, findings } = await subjectOf(options);
      const tell = (found: readonly Finding[]) => {
        if (options.json) return;
        for (const finding of found) printFinding(finding);
      };
      tell(findings);
      const add = (found: readonly Finding[]) => {
        tell(found);
        findings.push(...found);
      };
      for (const [check, look] of Object.entries(CHECKS)) {
        const advice = 'This check itself failed; the others count.';
        add(await look(subject).catch((error: unknown) => [failed(check, explain(error), advice)]));
      }
      if (options.print !== undefined) add([await testLabel(subject, options.print)]);
      if (options.bundle !== undefined) {
        await writeBundle(options.bundle, subject, findings);
        if (!options.json) printLine(`\n${options.bundle} is written, without secrets and label data.`);
      }
      if (options.json) printJson(findings);
      const wrong = findings.filter(({ result }) => result === 'failed').length;
      if (wrong > 0)
        throw new CommandFailure(`${wrong === 1 ? 'One thing is' : `${wrong} things are`} not in order.`);
    });
}

function printFinding({ check, result, detail, advice }: Finding): void {
  printLine(`${result.padEnd(8)} ${check}: ${detail}`);
  if (advice !== undefined) printLine(`${' '.repeat(9)}→ ${advice}`);
}
