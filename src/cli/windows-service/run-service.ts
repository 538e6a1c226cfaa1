/** Runs the agent as a Windows service: its log is a file, and the service manager says when it stops. */
import type { Command } from 'commander';
import { createLogger, type Logger, logInto } from '../../log.ts';
import { explain } from '../explain.ts';
import { CommandFailure, EXIT } from '../failure.ts';
import { Loops, type ServiceManager, tellInstead } from '../service-manager.ts';
import { LogFile } from './log-file.ts';
import { type ServiceProcess, serviceProcess } from './service-process.ts';
import { SERVICE_NAME, windowsPlaces } from './windows-places.ts';

/** 60 MB of log at most. */
const LOG = { size: 10 * 2 ** 20, kept: 5 };
/** How often the loops are checked, ms. */
const LOOK_MS = 15_000;

/**
 * Runs until the service is stopped, and ends the process then.
 * @param agent the command `platen agent`
 * @param home the directory of its configuration and its data
 * @throws ServiceFault `not-a-service` where the service manager has not started the process
 */
export async function runService(agent: Command, home: string): Promise<never> {
  const { config, data, logs } = windowsPlaces(home);
  logInto(new LogFile({ file: `${logs}\\agent.log`, ...LOG }));
  const logger = createLogger();
  const service = await serviceProcess(SERVICE_NAME, (reason) => {
    logger.info({ reason }, 'the service manager says stop');
    // Every command that stays running ends in order by it.
    process.emit('SIGTERM', 'SIGTERM');
  });
  const crash = (error: unknown) => {
    logger.fatal({ err: error }, 'the agent has crashed: Windows starts it again');
    process.exit(EXIT.failed);
  };
  process.on('uncaughtException', crash);
  tellInstead(() => managerOf(service, logger));
  try {
    await agent.exitOverride().parseAsync(['--config', config, '--data', data], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommandFailure)) crash(error);
    logger.fatal({ config, reason: explain(error) }, 'the agent cannot start');
    await service.stopped(error instanceof CommandFailure ? error.exitCode : EXIT.failed);
    process.exit(EXIT.failed);
  }
  logger.info('the agent has ended');
  await service.stopped(EXIT.done);
  process.exit(EXIT.done);
}

/** Windows has no watchdog: a process whose loops stand still ends, and is started again as after a crash. */
function managerOf(service: ServiceProcess, logger: Logger): ServiceManager {
  const running = new Loops();
  // At once: Windows gives a service half a minute, and an agent waits for its queue however long that takes.
  service.running();
  return {
    ready(stopping, loops) {
      running.watch(loops);
      const timer = setInterval(() => {
        const still = running.still();
        if (still.length === 0) return;
        logger.fatal({ loops: still }, 'stands still: the agent ends, and Windows starts it again');
        process.exit(1);
      }, LOOK_MS).unref();
      stopping.addEventListener('abort', () => clearInterval(timer), { once: true });
    },
    beat: (loop) => running.beat(loop),
  };
}
