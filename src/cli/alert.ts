import { Command, Option } from 'commander';
import { z } from 'zod';
import { ALERT_FORMS, ALERTS, alertMade, alertView } from '../contract/alert.ts';
import { connect } from './admin-client.ts';
import { CommandFailure } from './failure.ts';
import { printJson, printLine, printList } from './output.ts';
import { addDeliveries, stateOf } from './webhook.ts';
import { ofTenant, type TenantOptions } from './which-service.ts';

type CreateOptions = TenantOptions & {
  to: string;
  as?: string;
  alerts?: string;
  minutes?: string;
  quiet?: string;
  zone?: string;
};

/** `platen alert create|list|test|deliveries|replay|delete` */
export function alertCommand(): Command {
  const command = new Command('alert').description('who is told, by mail or in a chat, what needs somebody');

  ofTenant(command, 'create')
    .description('tell somebody when something needs a person, and when it does not any more')
    .requiredOption('--to <address>', 'a mail address, or the https address that a chat gave out')
    .addOption(
      new Option('--as <form>', 'default: mail, or chat (Slack, Mattermost) for an https address').choices(
        ALERT_FORMS,
      ),
    )
    .option('--alerts <alerts>', `with spaces between them: ${ALERTS.join(', ')}`)
    .option('--minutes <count>', 'how long something has to last (5)')
    .option('--quiet <hours>', 'hours in which nothing is told: 22:00-06:00')
    .option('--zone <name>', 'the time zone of these hours (default: of this machine)')
    .action(async (options: CreateOptions) => {
      const { to, as, minutes, quiet, zone } = options;
      const alerts = options.alerts?.split(/[\s,]+/).filter(Boolean);
      const body = {
        form: as ?? (to.startsWith('https:') ? 'chat' : 'mail'),
        to,
        ...(alerts && { alerts }),
        ...(minutes !== undefined && { minutes: Number(minutes) }),
        ...(quiet !== undefined && { quiet: hours(quiet, zone) }),
      };
      const made = await (await connect(options)).alerts(alertMade, 'POST', options.tenant, body);
      options.json ? printJson(made) : printLine(`${made.id} is told: platen alert test ${made.id}`);
    });

  ofTenant(command, 'list')
    .description('list who is told what')
    .action(async (options: TenantOptions) => {
      const all = await (await connect(options)).alerts(z.array(alertView), 'GET', options.tenant);
      const rows = all.map((one) => [
        ...[one.id, `${one.form} ${one.to}`, one.alerts.join(' '), `${one.minutes} min`],
        one.quiet === null ? '' : `${one.quiet.from}-${one.quiet.until} ${one.quiet.zone}`,
        stateOf(one),
      ]);
      printList(options, all, ['ID', 'TO', 'ALERTS', 'AFTER', 'QUIET', 'STATE'], rows);
    });

  addDeliveries(command);
  return command;
}

/** @throws CommandFailure */
function hours(text: string, zone = Intl.DateTimeFormat().resolvedOptions().timeZone): object {
  const [from, until, ...more] = text.split('-');
  if (until === undefined || more.length > 0)
    throw new CommandFailure(`--quiet ${text}: expected hours as 22:00-06:00`);
  return { from, until, zone };
}
