import { Command } from 'commander';
import { z } from 'zod';
import { template } from '../contract/template.ts';
import { connect } from './admin-client.ts';
import { readTemplateSource } from './input-file.ts';
import { printJson, printLine, printList } from './output.ts';
import { templateIdOf } from './print.ts';
import { shortIds } from './short-id.ts';
import { checkCommand, printProblem } from './template-check.ts';
import { ofTenant, type TenantOptions } from './which-service.ts';

/** `platen template import|list|show|rename|delete|check|schema` */
export function templateCommand(): Command {
  const command = new Command('template').description('saved label templates of a tenant');

  ofTenant(command, 'import')
    .description('save a template: Platen JSON, or a raw .zpl file; prints its ID')
    .argument('<file>', 'the template file')
    .action(async (file: string, options: TenantOptions) => {
      const source = await readTemplateSource(file);
      const saved = await (await connect(options)).importTemplate(options.tenant, source);
      for (const warning of saved.warnings ?? []) printProblem(warning);
      options.json ? printJson(saved) : printLine(saved.id);
    });

  ofTenant(command, 'list')
    .description('list the templates')
    .action(async (options: TenantOptions) => {
      const templates = await (await connect(options)).templates(options.tenant);
      const short = shortIds(templates.map(({ id }) => id));
      const rows = templates.map((one) => [
        short.get(one.id) ?? one.id,
        one.name,
        one.language,
        one.fields.join(', '),
      ]);
      printList(options, templates, ['ID', 'NAME', 'LANGUAGE', 'FIELDS'], rows);
    });

  const withTemplate = (name: string) =>
    ofTenant(command, name).argument('<template>', 'its name, or its ID or how that begins');

  withTemplate('show')
    .description('print a saved template as JSON')
    .action(async (idOrName: string, options: TenantOptions) => {
      const client = await connect(options);
      const id = await templateIdOf(client, options.tenant, idOrName);
      const saved = await client.template(options.tenant, id);
      printJson(options.json ? saved : saved.template);
    });

  withTemplate('rename')
    .description('give a template another name; its ID stays')
    .argument('<name>', 'the new name')
    .action(async (idOrName: string, name: string, options: TenantOptions) => {
      const client = await connect(options);
      const id = await templateIdOf(client, options.tenant, idOrName);
      const renamed = await client.renameTemplate(options.tenant, id, name);
      options.json ? printJson(renamed) : printLine(renamed.id);
    });

  withTemplate('delete')
    .description('delete a template; jobs that are queued print all the same')
    .action(async (idOrName: string, options: TenantOptions) => {
      const client = await connect(options);
      const id = await templateIdOf(client, options.tenant, idOrName);
      const deleted = await client.deleteTemplate(options.tenant, id);
      options.json ? printJson(deleted) : printLine(`${deleted.id}  ${deleted.name}  deleted`);
    });

  command.addCommand(checkCommand());

  command
    .command('schema')
    .description('print the JSON Schema of a template file')
    .action(() => printJson(z.toJSONSchema(template, { io: 'input' })));

  return command;
}
