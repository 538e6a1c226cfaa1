/** Finds the service of a command: by address and environment, or by the data directory of a local one. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { STATE } from '../contract/own-user.ts';
import { explain } from './explain.ts';
import { CommandFailure, EXIT } from './failure.ts';
import { windowsPlaces } from './windows-service/windows-places.ts';

const INSTALLED_DATA = process.platform === 'win32' ? windowsPlaces().data : STATE;
/**
 * The default data directory: that of `PLATEN_DATA`, which the packages set, else `data`; where there is no
 * `data`, that of a service which `service install` has made.
 */
export const USUAL_DATA =
  process.env['PLATEN_DATA'] || (!existsSync('data') && existsSync(INSTALLED_DATA) ? INSTALLED_DATA : 'data');

/** The file in a data directory by which commands find the service that `up` runs there; mode 0600. */
export const SERVICE_FILE = 'service.json';
export const serviceFile = z.object({
  url: z.url(),
  adminToken: z.string().min(1),
  metricsUrl: z.url().optional(),
});
export type ServiceFile = z.infer<typeof serviceFile>;

export interface ServiceOptions {
  url?: string;
  data?: string;
}

/** Adds the options by which a command finds its service. */
export function withService(command: Command): Command {
  return command
    .option(
      '--url <url>',
      'address of the service (or PLATEN_URL); the admin token comes from PLATEN_ADMIN_TOKEN',
    )
    .option('--data <dir>', 'data directory of a running "platen up", instead of --url');
}

export interface TenantOptions extends ServiceOptions {
  tenant: string;
  json?: true;
}

/** A command for something of a tenant's. */
export function ofTenant(command: Command, name: string): Command {
  return withService(command.command(name))
    .option('--tenant <id>', 'the tenant', 'default')
    .option('--json', 'print JSON');
}

/**
 * The service that the options name, or else PLATEN_URL; without any, the one that runs on `USUAL_DATA`.
 * @throws CommandFailure when there is none, or no token for it
 */
export async function serviceOf(options: ServiceOptions): Promise<ServiceFile> {
  const url = options.url ?? (options.data === undefined ? process.env['PLATEN_URL'] : undefined);
  if (url !== undefined) {
    const adminToken = process.env['PLATEN_ADMIN_TOKEN'];
    if (adminToken === undefined) {
      throw new CommandFailure('Set PLATEN_ADMIN_TOKEN to the admin token of the service.', EXIT.usage);
    }
    const service = serviceFile.safeParse({ url, adminToken });
    if (!service.success) throw new CommandFailure(`--url: ${url} is not a URL`, EXIT.usage);
    return service.data;
  }
  const file = join(options.data ?? USUAL_DATA, SERVICE_FILE);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new CommandFailure(
      `No service found: ${explain(error)}. Start one with "platen up", or name one with --url or --data.`,
    );
  }
  return serviceFile.parse(JSON.parse(text));
}
