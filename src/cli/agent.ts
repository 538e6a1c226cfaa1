import { Command } from 'commander';
import metadata from '../../package.json' with { type: 'json' };
import { Agent } from '../agent/agent.ts';
import { queueSource } from '../agent/source/queue-source.ts';
import { createLogger } from '../log.ts';
import { openGateway } from '../queue/index.ts';
import { agentConfigOf, DISCOVER, EVERYWHERE, PRINTER } from './agent-config.ts';
import { siteCommands } from './agent-sites.ts';
import { awaitedQueues, serverAt } from './awaiting.ts';
import { agentFile, readConfigFile } from './config-file.ts';
import { keepCrashReports } from './crash-report.ts';
import { ending } from './ending.ts';
import { type Enrolment, readEnrolment } from './enrolment.ts';
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
  const command = new Command('agent')
    .description('run the print agent next to the printers')
    // Options behind "invite", "enroll" and "revoke" are theirs.
    .enablePositionalOptions()
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
    .addHelpText(
      'after',
      '\nIts jobs come from the service with which it has enrolled ("platen agent enroll"), or from the Redis that REDIS_URL ' +
        'or "redisUrl" in the configuration names.',
    )
    .action(async (options: AgentCommandOptions) => {
      needsOwner('agent', options.data);
      const { databaseUrl, ...told } = placesFromEnv();
      if (databaseUrl !== undefined) {
        throw new CommandFailure(
          'An agent is never on PostgreSQL, since whoever has the database can make himself any right in the service: ' +
            'take DATABASE_URL out of its environment, and enrol it with the service ("platen agent invite" there), ' +
            'or set REDIS_URL for service and agent.',
          EXIT.usage,
        );
      }
      const written =
        options.config === undefined ? undefined : await readConfigFile(options.config, agentFile);
      const { redisUrl, queuePrefix } = placesOver(told, written ?? {});
      const place = metricsFrom(written?.metrics);
      const { data, config: file, discover, name, tenant, printer } = options;
      const enrolment = await readEnrolment(data);
      checkPlace(redisUrl, enrolment, tenant);
      const set = {
        dataDir: data,
        ...named(name ?? (written?.name === undefined ? enrolment?.name : undefined)),
        ...(enrolment === undefined
          ? ofTenant(tenant)
          : { id: enrolment.agentId, tenantId: enrolment.scope }),
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
      const queues = await (enrolment === undefined
        ? awaitedQueues(
            {
              redisUrl,
              databaseUrl: undefined,
              ...(queuePrefix !== undefined && { prefix: queuePrefix }),
              logger,
            },
            { logger, signal: stopSignal },
          )
        : openGateway({ place: { ...enrolment, version: metadata.version }, logger })
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
      const on =
        enrolment === undefined
          ? `on ${serverAt('Redis', redisUrl)} with the prefix "${queuePrefix ?? 'platen'}"`
          : `for the service at ${enrolment.origin}`;
      printLine(`agent ${agent.id} runs, ${on}`);
      await stopped(stopSignal);
    });
  for (const site of siteCommands()) command.addCommand(site);
  return command;
}

/** @throws CommandFailure where it is not clear from where the jobs come, or for whom they are */
function checkPlace(redisUrl: string | undefined, enrolment: Enrolment | undefined, tenant?: string): void {
  if (enrolment === undefined) {
    if (redisUrl !== undefined) return;
    throw new CommandFailure(
      'It does not know its service: enrol it (platen agent enroll, with a code from "platen agent invite" there), or set ' +
        'REDIS_URL, or "redisUrl" in the configuration, to where the service has its queues.',
      EXIT.usage,
    );
  }
  if (redisUrl !== undefined) {
    throw new CommandFailure(
      `It has enrolled with ${enrolment.origin}, and is told of a Redis too: take REDIS_URL or "redisUrl" away.`,
      EXIT.usage,
    );
  }
  if (tenant === undefined || tenant === enrolment.scope) return;
  throw new CommandFailure(
    `Its invitation says whose printers it has (${enrolment.scope ?? 'every tenant'}): leave --tenant out.`,
    EXIT.usage,
  );
}

function named(name: string | undefined) {
  return name === undefined ? {} : { name };
}

function ofTenant(tenant: string | undefined) {
  return tenant === undefined ? {} : { tenantId: tenant };
}
