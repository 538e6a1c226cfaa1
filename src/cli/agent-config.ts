/** What commands that run an agent are told of it: a file, and options that win over what stands in it. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { type AgentConfig, type AgentConfigInput, agentConfig } from '../agent/config.ts';
import { LOCAL_CUPS } from '../agent/discovery/providers/cups.ts';
import { CommandFailure, EXIT, explain } from './failure.ts';

export const DISCOVER =
  'also drive what announces itself (DNS-SD), the queues of the local CUPS or Windows spooler, and USB printers';

/** What `--discover` stands for: what this system has. */
export const EVERYWHERE = {
  dnsSd: true,
  ...(process.platform === 'win32' ? { winspool: true } : { cups: true, usb: true }),
};

/**
 * The configuration of an agent.
 * @param search where to look for printers, besides where the file says
 * @throws CommandFailure for a file that cannot be read, and for a configuration that is not valid
 */
export async function agentConfigOf(
  file: string | undefined,
  search: AgentConfigInput['discovery'],
  set: Partial<AgentConfigInput> & { dataDir: string },
): Promise<AgentConfig> {
  const fromFile = file === undefined ? {} : await readConfig(file);
  const searched = z.looseObject({}).catch({}).parse(fromFile['discovery']);
  const config = agentConfig.safeParse({
    ...fromFile,
    ...(search && { discovery: together(searched, search) }),
    ...set,
  });
  if (!config.success) {
    throw new CommandFailure(`the agent's configuration:\n${z.prettifyError(config.error)}`, EXIT.usage);
  }
  return config.data;
}

/** What the file searches, and what the options add: this machine's CUPS takes no other's place. */
function together(file: Record<string, unknown>, options: NonNullable<AgentConfigInput['discovery']>) {
  const servers = z.union([z.string(), z.array(z.string())]).safeParse(file['cups']);
  const adds = servers.success && options.cups === true;
  return { ...file, ...options, ...(adds && { cups: [...[servers.data].flat(), LOCAL_CUPS] }) };
}

async function readConfig(file: string): Promise<Record<string, unknown>> {
  try {
    return z.looseObject({}).parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    throw new CommandFailure(`Cannot read ${file}: ${explain(error)}`);
  }
}
