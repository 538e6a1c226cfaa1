import { Command } from 'commander';
import { CommandFailure, EXIT } from './failure.ts';

/** `platen service`: an installed program, started with the machine. */
export async function serviceCommand(): Promise<Command> {
  if (process.platform === 'win32') {
    return (await import('./windows-service/service-command.ts')).windowsServiceCommand();
  }
  return new Command('service')
    .description('the agent as a service of this machine (Windows)')
    .argument('[words...]')
    .action(() => {
      throw new CommandFailure(
        'On Linux the packages bring a systemd unit: systemctl status platen',
        EXIT.usage,
      );
    });
}
