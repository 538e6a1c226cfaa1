import { Command } from 'commander';
import type { SignInLink } from '../contract/people.ts';
import { connect } from './admin-client.ts';
import { printJson, printLine } from './output.ts';
import { localTime } from './times.ts';
import { type ServiceOptions, withService } from './which-service.ts';

/** `platen console` */
export function consoleCommand(): Command {
  return withService(new Command('console'))
    .description('print a link that opens the console in a browser and signs in once')
    .option('--tenant <id>', 'whose console', 'default')
    .option('--login <login>', 'whom it signs in; by default the administrator of whoever runs Platen')
    .option('--json', 'print JSON')
    .action(async (options: ServiceOptions & { tenant: string; login?: string; json?: true }) => {
      const { tenant, login } = options;
      const link = await (await connect(options)).signInLink({
        tenant,
        ...(login !== undefined && { login }),
      });
      options.json ? printJson(link) : printLine(consoleLine(link));
    });
}

/** For a terminal, never for a log: whoever has the link is signed in. */
export function consoleLine({ url, expiresAt }: SignInLink): string {
  return `Open the console (the link signs in once, until ${localTime(expiresAt)}):\n\n  ${url}\n`;
}
