import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { z } from 'zod';
import { Agent } from '../agent/agent.ts';
import { type AgentConfigInput, agentConfig } from '../agent/config.ts';
import { queueSource } from '../agent/queue-source.ts';
import { createLogger } from '../log.ts';
import { openQueues } from '../queue/index.ts';
import { CommandFailure, EXIT, explain } from './failure.ts';
import { placesFromEnv } from './installation.ts';
import { append } from './option-values.ts';
import { printLine } from './output.ts';
import { stopped, untilToldToStop } from './stop-signal.ts';

interface AgentCommandOptions {
  data: string;
  config?: string;
  name?: string;
  tenant?: string;
  printer: string[];
  discover?: true;
}

/** `platen agent` */
export function agentCommand(): Command {
  return new Command('agent')
    .description('run the print agent next to the printers')
    .option('--data <dir>', 'where its journal and its ID are kept', 'agent-data')
    .option('--config <file>', 'its configuration as JSON; the other options win over it')
    .option('--name <name>', "what it is called; by default the machine's name")
    .option('--tenant <id>', 'the tenant whose printers these are; by default they serve every tenant')
    .option('--printer <uri>', 'a printer to drive, such as socket://10.0.0.7:9100; repeatable', append, [])
    .option('--discover', 'also drive what announces itself (DNS-SD), local CUPS queues and USB printers')
    .addHelpText(
      'after',
      "\nREDIS_URL (or DATABASE_URL, where the service's queues are in PostgreSQL) says where the jobs come from.",
    )
    .action(async (options: AgentCommandOptions) => {
      const { databaseUrl, redisUrl, queuePrefix } = placesFromEnv();
      if (redisUrl === undefined && databaseUrl === undefined) {
        throw new CommandFailure(
          'Set REDIS_URL or DATABASE_URL to where the service has its queues.',
          EXIT.usage,
        );
      }
      const config = await configOf(options);
      const logger = createLogger();
      const stopSignal = untilToldToStop(logger);
      await using stack = new AsyncDisposableStack();
      const queues = await openQueues({
        redisUrl,
        ...(databaseUrl === undefined ? {} : { database: { connectionString: databaseUrl } }),
        ...(queuePrefix === undefined ? {} : { prefix: queuePrefix }),
        logger,
      });
      stack.defer(() => queues.close());
      const agent = new Agent({ config, source: queueSource(queues), logger });
      await agent.start();
      stack.defer(() => agent.stop());
      printLine(`agent ${agent.id} runs`);
      await stopped(stopSignal);
    });
}

async function configOf(options: AgentCommandOptions): Promise<AgentConfigInput> {
  const fromFile = options.config === undefined ? {} : await readConfig(options.config);
  const merged = {
    ...fromFile,
    dataDir: options.data,
    ...(options.name === undefined ? {} : { name: options.name }),
    ...(options.tenant === undefined ? {} : { tenantId: options.tenant }),
    ...(options.discover ? { discovery: { dnsSd: true, cups: true, usb: true } } : {}),
    ...(options.printer.length === 0 ? {} : { printers: options.printer.map((uri) => ({ uri })) }),
  };
  const config = agentConfig.safeParse(merged);
  if (!config.success) {
    throw new CommandFailure(`the agent's configuration:\n${z.prettifyError(config.error)}`, EXIT.usage);
  }
  return config.data;
}

async function readConfig(file: string): Promise<object> {
  try {
    return z.looseObject({}).parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    throw new CommandFailure(`Cannot read ${file}: ${explain(error)}`);
  }
}
