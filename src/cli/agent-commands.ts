import type { Commands } from './command-line.ts';

/** The commands that run an agent, and those that talk to a service. */
export const AGENT_COMMANDS: Commands = {
  agent: async () => (await import('./agent.ts')).agentCommand(),
  tenant: async () => (await import('./tenant.ts')).tenantCommand(),
  webhook: async () => (await import('./webhook.ts')).webhookCommand(),
  alert: async () => (await import('./alert.ts')).alertCommand(),
  integration: async () => (await import('./integration.ts')).integrationCommand(),
  user: async () => (await import('./user.ts')).userCommand(),
  console: async () => (await import('./console.ts')).consoleCommand(),
  audit: async () => (await import('./audit.ts')).auditCommand(),
  template: async () => (await import('./template.ts')).templateCommand(),
  print: async () => (await import('./print.ts')).printCommand(),
  validate: async () => (await import('./print.ts')).validateCommand(),
  watch: async () => (await import('./watch/watch.ts')).watchCommand(),
  jobs: async () => (await import('./jobs.ts')).jobsCommand(),
  job: async () => (await import('./job.ts')).jobCommand(),
  printers: async () => (await import('./printers.ts')).printersCommand(),
  printer: async () => (await import('./printer.ts')).printerCommand(),
  agents: async () => (await import('./agents.ts')).agentsCommand(),
  render: async () => (await import('./render.ts')).renderCommand(),
  discover: async () => (await import('./discover.ts')).discoverCommand(),
  config: async () => (await import('./config.ts')).configCommand(),
  service: async () => (await import('./service.ts')).serviceCommand(),
  doctor: async () => (await import('./doctor/doctor.ts')).doctorCommand(),
  update: async () => (await import('./update/update.ts')).updateCommand(),
};
