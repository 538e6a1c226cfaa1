import type { Commands } from './command-line.ts';

/** The commands that run a service, or a virtual printer. */
export const SERVICE_COMMANDS: Commands = {
  up: async () => (await import('./up.ts')).upCommand(),
  server: async () => (await import('./server.ts')).serverCommand(),
  backup: async () => (await import('./backup.ts')).backupCommand(),
  restore: async () => (await import('./backup.ts')).restoreCommand(),
  demo: async () => (await import('./demo.ts')).demoCommand(),
  virtual: async () => (await import('./virtual.ts')).virtualCommand(),
};
