import { Command } from 'commander';
import { Agent } from '../agent/agent.ts';
import { queueSource } from '../agent/source/queue-source.ts';
import { createLogger } from '../log.ts';
import { agentConfigOf, DISCOVER, EVERYWHERE, PRINTER } from './agent-config.ts';
import { awaitedQueues, serverAt } from './awaiting.ts';
import { agentFile, readConfigFile } from './config-file.ts';
import { keepCrashReports } from './crash-report.ts';
import { ending } from './ending.ts';
import { CommandFailure, EXIT } from './failure.ts';
import { metricsFrom, serveMetrics } from './metrics.ts';
import { append } from './option-values.ts';
import { printLine } from './output.ts';
import { needsOwner, ownDirectory } from './own-directory.ts';
import { placesFromEnv, placesOver } from './places.ts';
import { keepFilesPrivate } from './private-files.ts';
import { serviceManager } from './service-manager.ts';
import { stopped, untilToldToStop } from './stop-signal.ts';

interface AgentCommandOptions {
  data: string;
  config?: string;
  name?: string;
  tenant?: string;
  printer: string[];
  discover?: true;
  forgetCertificate: string[];
}

/** `platen agent` */
export function agentCommand(): Command {
  return new Command('agent')
    .description('run the print agent next to the printers')
    .option('--data <dir>', 'where its journal and its ID are kept', ownDirectory('agent-data'))
    .option('--config <file>', 'its configuration as JSON; the other options win over it')
    .option('--name <name>', "what it is called; by default the machine's name")
    .option('--tenant <id>', 'the tenant whose printers these are; by default they serve every tenant')
    .option('--printer <uri>', PRINTER, append, [])
    .option('--discover', DISCOVER)
    .option(
      '--forget-certificate <printer-id>',
      'take the certificate that a printer shows next for its own; repeatable',
      append,
      [],
    )
    .addHelpText('after', '\nREDIS_URL says where the jobs come from, or "redisUrl" in the configuration.')
    .action(async (options: AgentCommandOptions) => {
      needsOwner('agent', options.data);
      const { databaseUrl, ...told } = placesFromEnv();
      if (databaseUrl !== undefined) {
        throw new CommandFailure(
          'An agent is never on PostgreSQL, since whoever has the database can make himself any right in the service: ' +
            'take DATABASE_URL out of its environment, and set REDIS_URL for service and agent. ' +
            'On PostgreSQL alone "platen up" has an agent in it.',
          EXIT.usage,
        );
      }
      const written =
        options.config === undefined ? undefined : await readConfigFile(options.config, agentFile);
      const { redisUrl, queuePrefix } = placesOver(told, written ?? {});
      const place = metricsFrom(written?.metrics);
      if (redisUrl === undefined) {
        throw new CommandFailure(
          'Set REDIS_URL, or "redisUrl" in the configuration, to where the service has its queues.',
          EXIT.usage,
        );
      }
      const { data, config: file, discover, name, tenant, printer } = options;
      const set = {
        dataDir: data,
        ...(name === undefined ? {} : { name }),
        ...(tenant === undefined ? {} : { tenantId: tenant }),
      };
      const config = await agentConfigOf(file, discover && EVERYWHERE, set, printer);
      keepFilesPrivate();
      keepCrashReports(data);
      const logger = createLogger();
      const stopSignal = untilToldToStop(logger);
      const manager = await serviceManager(logger);
      await using stack = new AsyncDisposableStack();
      const metrics = place === undefined ? undefined : await serveMetrics(place);
      if (metrics !== undefined) {
        stack.defer(() => ending('metrics', () => metrics.stop()));
        logger.info({ url: metrics.url }, 'metrics are told');
      }
      const queues = await awaitedQueues(
        {
          redisUrl,
          databaseUrl: undefined,
          ...(queuePrefix !== undefined && { prefix: queuePrefix }),
          logger,
        },
        { logger, signal: stopSignal },
      ).catch((error: unknown) => {
        if (!stopSignal.aborted) throw error;
      });
      if (queues === undefined) return;
      stack.defer(() => ending('queues', () => queues.close()));
      const source = queueSource(queues);
      const agent = new Agent({
        config,
        source: metrics === undefined ? source : await metrics.counting(source),
        forgetCertificates: options.forgetCertificate,
        onScan: () => manager?.beat('agent'),
        logger,
      });
      await agent.start();
      stack.defer(() => ending('agent', () => agent.stop()));
      await metrics?.watch(agent);
      manager?.ready(stopSignal, ['agent']);
      printLine(
        `agent ${agent.id} runs, on ${serverAt('Redis', redisUrl)} with the prefix "${queuePrefix ?? 'platen'}"`,
      );
      await stopped(stopSignal);
    });
}
