import { Command } from 'commander';
import { z } from 'zod';
import {
  WEBHOOK_EVENTS,
  webhookMessage,
  webhookReplayed,
  webhookSecret,
  webhookTested,
  webhookView,
} from '../contract/webhook.ts';
import { connect } from './admin-client.ts';
import { printJson, printLine, printList } from './output.ts';
import { localTime } from './times.ts';
import { ofTenant, type TenantOptions } from './which-service.ts';

/** `platen webhook create|list|test|deliveries|replay|rotate|delete` */
export function webhookCommand(): Command {
  const command = new Command('webhook').description('where events of jobs and printers are sent');

  ofTenant(command, 'create')
    .description('send events to an address; prints its secret, this once')
    .requiredOption('--to <address>', 'an https address')
    .option('--events <events>', `with spaces between them: ${WEBHOOK_EVENTS.join(', ')}`)
    .action(async (options: TenantOptions & { to: string; events?: string }) => {
      const events = options.events?.split(/[\s,]+/).filter(Boolean);
      const body = { url: options.to, ...(events && { events }) };
      const made = await (await connect(options)).webhooks(webhookSecret, 'POST', options.tenant, '', body);
      printSecret(made, options);
    });

  ofTenant(command, 'list')
    .description('list the webhooks of a tenant')
    .action(async (options: TenantOptions) => {
      const all = await (await connect(options)).webhooks(z.array(webhookView), 'GET', options.tenant);
      const rows = all.map(({ id, url, events, failingSince, disabled }) => [
        id,
        url,
        events.join(' '),
        stateOf({ disabled, failingSince }),
      ]);
      printList(options, all, ['ID', 'URL', 'EVENTS', 'STATE'], rows);
    });

  ofTenant(command, 'rotate')
    .argument('<id>', 'its ID')
    .description('make a new secret, printed this once; the old one signs too for a day')
    .action(async (id: string, options: TenantOptions) => {
      const client = await connect(options);
      printSecret(
        await client.webhooks(webhookSecret, 'POST', options.tenant, pathOf(id, 'secret')),
        options,
      );
    });

  addDeliveries(command);
  return command;
}

export function stateOf({
  disabled,
  failingSince,
}: Pick<z.infer<typeof webhookView>, 'disabled' | 'failingSince'>): string {
  if (disabled !== null) return `disabled: ${disabled.why}`;
  return failingSince !== null ? `fails since ${localTime(failingSince)}` : 'well';
}

/** `… test|deliveries|replay|delete`: of a webhook, in whatever form. */
export function addDeliveries(command: Command): void {
  const ofOne = (name: string) => ofTenant(command, name).argument('<id>', 'its ID');

  ofOne('test')
    .description('send it a test')
    .action(async (id: string, options: TenantOptions) => {
      const client = await connect(options);
      const made = await client.webhooks(webhookTested, 'POST', options.tenant, pathOf(id, 'test'));
      if (options.json) return printJson(made);
      printLine(`${made.message} is sent: platen ${command.name()} deliveries ${id}`);
    });

  ofOne('deliveries')
    .description('list the newest messages, and what was answered')
    .action(async (id: string, options: TenantOptions) => {
      const client = await connect(options);
      const path = pathOf(id, 'messages');
      const all = await client.webhooks(z.array(webhookMessage), 'GET', options.tenant, path);
      const rows = all.map(({ id: message, event, job, printer, at, arrivedAt, dueAt, attempts: [last] }) => [
        message,
        event,
        job ?? printer ?? '',
        localTime(at),
        arrivedAt !== null ? 'arrived' : dueAt === null ? 'given up' : `again at ${localTime(dueAt)}`,
        last === undefined ? '' : String(last.status ?? last.answer),
      ]);
      printList(options, all, ['MESSAGE', 'EVENT', 'ABOUT', 'AT', 'STATE', 'ANSWER'], rows);
    });

  ofOne('replay')
    .description('send what has not arrived again, under the same IDs; enables it where it was disabled')
    .option('--message <id>', 'this message, whether it has arrived or not')
    .option('--since <time>', 'messages since then (ISO 8601)')
    .action(async (id: string, options: TenantOptions & { message?: string; since?: string }) => {
      const { message, since } = options;
      const body = { ...(message && { message }), ...(since && { since }) };
      const client = await connect(options);
      const done = await client.webhooks(webhookReplayed, 'POST', options.tenant, pathOf(id, 'replay'), body);
      options.json ? printJson(done) : printLine(`${done.messages} messages are sent again`);
    });

  ofOne('delete')
    .description('delete it, with what was not sent yet')
    .action(async (id: string, options: TenantOptions) => {
      await (await connect(options)).webhooks(z.unknown(), 'DELETE', options.tenant, pathOf(id));
      options.json ? printJson({ id, deleted: true }) : printLine(`${id} is deleted`);
    });
}

function pathOf(id: string, what?: string): string {
  return `/${encodeURIComponent(id)}${what === undefined ? '' : `/${what}`}`;
}

function printSecret({ id, secret }: z.infer<typeof webhookSecret>, { json }: TenantOptions): void {
  if (json) printJson({ id, secret });
  else printLine(`id      ${id}\nsecret  ${secret}\n\nKeep the secret now: it is not shown again.`);
}
