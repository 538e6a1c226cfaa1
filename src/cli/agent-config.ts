/** Reads the configuration for commands that run an agent: a file, and options that win over the file. */
import { z } from 'zod';
import { type AgentConfig, type AgentConfigInput, agentConfig } from '../agent/config.ts';
import { LOCAL_CUPS } from '../agent/discovery/providers/cups.ts';
import { faultsOf, readJson } from './config-file.ts';
import { CommandFailure, EXIT } from './failure.ts';

export const DISCOVER =
  'also drive what announces itself (DNS-SD), the queues of the local CUPS or Windows spooler, and USB printers';

/** The discovery settings of `--discover`: all that this system has. */
export const EVERYWHERE = {
  dnsSd: true,
  ...(process.platform === 'win32' ? { winspool: true } : { cups: true, usb: true }),
};

/**
 * The configuration of an agent.
 * @param file `agent.json`, or the part of `platen.json` that is the agent's
 * @param search where to look for printers, besides where the file says
 * @throws CommandFailure for a file that cannot be read, and for a configuration that is not valid
 */
export async function agentConfigOf(
  file: string | Record<string, unknown> | undefined,
  search: AgentConfigInput['discovery'],
  set: Partial<AgentConfigInput> & { dataDir: string },
): Promise<AgentConfig> {
  const fromFile = typeof file === 'string' ? await readAgentFile(file) : (file ?? {});
  const searched = z.looseObject({}).catch({}).parse(fromFile['discovery']);
  const config = agentConfig.safeParse({
    ...fromFile,
    ...(search && { discovery: together(searched, search) }),
    ...set,
  });
  if (!config.success) {
    const faults = faultsOf(config.error, agentConfig);
    throw new CommandFailure(`the agent's configuration:\n${faults}`, EXIT.usage);
  }
  return config.data;
}

/** The agent's own settings in a file, without the place of its queue. */
async function readAgentFile(file: string): Promise<Record<string, unknown>> {
  const { $schema, redisUrl, queuePrefix, ...agent } = await readJson(file);
  return agent;
}

/** The searches of file and options together; this machine's CUPS is added to the servers in the file. */
function together(file: Record<string, unknown>, options: NonNullable<AgentConfigInput['discovery']>) {
  const servers = z.union([z.string(), z.array(z.string())]).safeParse(file['cups']);
  const adds = servers.success && options.cups === true;
  return { ...file, ...options, ...(adds && { cups: [...[servers.data].flat(), LOCAL_CUPS] }) };
}
