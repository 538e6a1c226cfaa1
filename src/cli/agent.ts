import { Command } from 'commander';
import metadata from '../../package.json' with { type: 'json' };
import { Agent } from '../agent/agent.ts';
import { countedQueue } from '../agent/counted-queue.ts';
import { HeartbeatMetrics } from '../agent/heartbeat-metrics.ts';
import { createLogger, type Logger } from '../log.ts';
import { openGateway } from '../queue/index.ts';
import { agentConfigOf, DISCOVER, EVERYWHERE, PRINTER } from './agent-config.ts';
import { siteCommands } from './agent-sites.ts';
import { awaitedQueues, serverAt } from './awaiting.ts';
import { agentFile, readConfigFile } from './config-file.ts';
import { keepCrashReports } from './crash-report.ts';
import { ending } from './ending.ts';
import { type Enrolment, keepScope, keptState, readEnrolment } from './enrolment.ts';
import { CommandFailure, EXIT } from './failure.ts';
import { metricsFrom, serveMetrics } from './metrics.ts';
import { append } from './option-values.ts';
import { printLine } from './output.ts';
import { needsOwner, ownDirectory } from './own-directory.ts';
import { placesFromEnv, placesOver } from './places.ts';
import { keepFilesPrivate } from './private-files.ts';
import { type ServiceManager, serviceManager } from './service-manager.ts';
import { stopped, untilToldToStop } from './stop-signal.ts';
import { keepTrimmed } from './trimmed.ts';
import { wentBack } from './update/went-back.ts';
import { watchFolders } from './watch/folders.ts';

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
      // A configuration that cannot be used ends it before anybody is told that it runs.
      let settled = await settle(options);
      keepFilesPrivate();
      keepCrashReports(options.data);
      keepTrimmed();
      const logger = createLogger();
      const stopSignal = untilToldToStop(logger);
      const manager = await serviceManager(logger);
      const process = { logger, stopSignal, manager };
      // Again as another tenant's agent, where the service has moved it.
      while (await run(settled, process)) {
        manager?.beat('agent');
        settled = await settle(options);
      }
    });
  for (const site of siteCommands()) command.addCommand(site);
  return command;
}

/** How long a job in hand may take before it goes back, where the agent is to be another tenant's, ms. */
const MOVE_GRACE = 60_000;

interface Process {
  logger: Logger;
  stopSignal: AbortSignal;
  manager: ServiceManager | null;
}

/** What options, environment, configuration and enrolment say together. @throws CommandFailure */
async function settle(options: AgentCommandOptions) {
  const { databaseUrl, ...told } = placesFromEnv();
  if (databaseUrl !== undefined) {
    throw new CommandFailure(
      'An agent is never on PostgreSQL, since whoever has the database can make himself any right in the service: ' +
        'take DATABASE_URL out of its environment, and enrol it with the service ("platen agent invite" there), ' +
        'or set REDIS_URL for service and agent.',
      EXIT.usage,
    );
  }
  const written = options.config === undefined ? undefined : await readConfigFile(options.config, agentFile);
  const { redisUrl, queuePrefix } = placesOver(told, written ?? {});
  const place = metricsFrom(written?.metrics);
  const { data, config: file, discover, name, tenant, printer } = options;
  const enrolment = await readEnrolment(data);
  checkPlace(redisUrl, enrolment, tenant);
  const set = {
    dataDir: data,
    ...named(name ?? (written?.name === undefined ? enrolment?.name : undefined)),
    ...(enrolment === undefined ? ofTenant(tenant) : { id: enrolment.agentId, tenantId: enrolment.scope }),
  };
  const config = await agentConfigOf(file, discover && EVERYWHERE, set, printer);
  return {
    data,
    config,
    enrolment,
    redisUrl,
    queuePrefix,
    place,
    folders: written?.folders ?? [],
    forgetCertificates: options.forgetCertificate,
  };
}

type Settled = Awaited<ReturnType<typeof settle>>;

/** Runs until it is told to stop. @returns true: it has to begin anew, as the service moves it to another tenant */
async function run(settled: Settled, { logger, stopSignal, manager }: Process): Promise<boolean> {
  const { data, config, enrolment, redisUrl, queuePrefix, place, folders, forgetCertificates } = settled;
  await using stack = new AsyncDisposableStack();
  const metrics = place === undefined ? undefined : await serveMetrics(place);
  if (metrics !== undefined) {
    stack.defer(() => ending('metrics', () => metrics.stop()));
    logger.info({ url: metrics.url }, 'metrics are told');
  }
  // The service may say something before the agent has started.
  const started = Promise.withResolvers<Agent>();
  // While the agent is stopped, to become another tenant's, nothing else keeps the process.
  const keeps = setInterval(() => undefined, MOVE_GRACE);
  stack.defer(() => clearInterval(keeps));
  const anew = Promise.withResolvers<true>();
  anew.promise.catch(() => undefined);
  const kept = await keptState(data, async () => {
    const agent = await started.promise;
    if (!stopSignal.aborted) await agent.forgetJobs();
  });
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
    : openGateway({
        agent: { ...enrolment, version: metadata.version, kept },
        logger,
        onJoined: () => void started.promise.then((agent) => agent.reached()),
        onPrinters: (printers) => void started.promise.then((agent) => agent.drive(printers)),
        moves: {
          async leave() {
            const agent = await started.promise;
            logger.info('the service moves this agent to another tenant');
            await agent.stop({ graceMs: MOVE_GRACE });
            if (!agent.isTold) anew.resolve(true);
            return agent.isTold;
          },
          moved: (to) => void keepScope(data, enrolment, to).then(() => anew.resolve(true), anew.reject),
        },
      })
  ).catch((error: unknown) => {
    if (!stopSignal.aborted) throw error;
  });
  if (queues === undefined) return false;
  stack.defer(() => ending('queues', () => queues.close()));
  const counts = enrolment === undefined ? undefined : new HeartbeatMetrics();
  const queue = counts === undefined ? queues : countedQueue(queues, counts);
  const agent = new Agent({
    config,
    queue: metrics === undefined ? queue : await metrics.counting(queue),
    counts,
    forgetCertificates,
    wentBack: wentBack(metadata.version),
    onScan: () => manager?.beat('agent'),
    logger,
  });
  await agent.start();
  started.resolve(agent);
  stack.defer(() => ending('agent', () => agent.stop()));
  await metrics?.watch(agent);
  const watched = watchFolders(folders, logger);
  stack.defer(() => ending('watched folders', () => watched.stop()));
  manager?.ready(stopSignal, ['agent']);
  const on =
    enrolment === undefined
      ? `on ${serverAt('Redis', redisUrl)} with the prefix "${queuePrefix ?? 'platen'}"`
      : `for the service at ${enrolment.origin}`;
  printLine(`agent ${agent.id} runs, ${on}`);
  return await Promise.race([stopped(stopSignal).then(() => false), anew.promise]);
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
