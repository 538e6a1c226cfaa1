/** Reads the configuration for commands that run an agent: a file, and options that win over the file. */
import { z } from 'zod';
import { type AgentConfig, agentConfig, type RawAgentConfig } from '../agent/config.ts';
import { LOCAL_CUPS } from '../agent/discovery/providers/cups.ts';
import { faultsOf, readJson } from './config-file.ts';
import { CommandFailure, EXIT } from './failure.ts';

export const PRINTER =
  'a printer to drive, such as socket://10.0.0.7:9100, besides those of the configuration; repeatable';

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
 * @param printers addresses of printers to drive, besides those of the file
 * @throws CommandFailure for a file that cannot be read, and for a configuration that is not valid
 */
export async function agentConfigOf(
  file: string | Record<string, unknown> | undefined,
  search: RawAgentConfig['discovery'],
  set: Partial<RawAgentConfig> & { dataDir: string },
  printers: readonly string[] = [],
): Promise<AgentConfig> {
  const fromFile = typeof file === 'string' ? await readAgentFile(file) : (file ?? {});
  const searched = z.looseObject({}).catch({}).parse(fromFile['discovery']);
  const listed = z.array(z.unknown()).safeParse(fromFile['printers'] ?? []);
  const content = {
    ...fromFile,
    // What is no list, the schema refuses.
    ...(listed.success && { printers: [...listed.data, ...others(printers, listed.data)] }),
    ...(search && { discovery: together(searched, search) }),
    ...set,
  };
  const config = agentConfig.safeParse(content);
  if (!config.success) {
    const faults = faultsOf(config.error, agentConfig, content);
    throw new CommandFailure(`the agent's configuration:\n${faults}`, EXIT.usage);
  }
  return config.data;
}

/** Those of the addresses that the file does not list: its entry says more of a printer than the address. */
function others(addresses: readonly string[], listed: readonly unknown[]): { uri: string }[] {
  const known = z.array(z.looseObject({ uri: z.string() }).catch({ uri: '' })).parse(listed);
  return [...new Set(addresses)]
    .filter((address) => known.every(({ uri }) => uri !== address))
    .map((uri) => ({ uri }));
}

/** The agent's own settings in a file, without the places of its queue and of its metrics, and its watched folders. */
async function readAgentFile(file: string): Promise<Record<string, unknown>> {
  const { $schema, redisUrl, queuePrefix, metrics, folders, ...agent } = await readJson(file);
  return agent;
}

/** The searches of file and options together; this machine's CUPS is added to the servers in the file. */
function together(file: Record<string, unknown>, options: NonNullable<RawAgentConfig['discovery']>) {
  const servers = z.union([z.string(), z.array(z.string())]).safeParse(file['cups']);
  const adds = servers.success && options.cups === true;
  return { ...file, ...options, ...(adds && { cups: [...[servers.data].flat(), LOCAL_CUPS] }) };
}
