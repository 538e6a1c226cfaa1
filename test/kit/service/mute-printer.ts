/** A printer that takes all and says nothing: a file, in the configuration of an agent. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export const MUTE = 'dock 4';

/** @returns the configuration's file, for `--agent-config` */
export async function configureMutePrinter(directory: string, name = MUTE): Promise<string> {
  const output = join(directory, 'labels.zpl');
  const config = join(directory, 'agent.json');
  await writeFile(output, '');
  const printer = {
    uri: pathToFileURL(output).href,
    name,
    language: 'zpl',
    dpi: 203,
    width: 60,
    height: 30,
  };
  await writeFile(config, JSON.stringify({ printers: [printer] }));
  return config;
}
