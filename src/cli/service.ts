import type { Command } from 'commander';

/** `platen service`: an installed program, started with the machine. */
export async function serviceCommand(): Promise<Command> {
  const command =
    process.platform === 'win32'
      ? (await import('./windows-service/service-command.ts')).windowsServiceCommand()
      : (await import('./linux-service/service-command.ts')).linuxServiceCommand();
  return command.description('run this program as a service of this machine: install, status, uninstall');
}
