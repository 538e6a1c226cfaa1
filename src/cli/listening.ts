/** The address on which a service listens: options, then environment, then configuration file. */
import { Option } from 'commander';
import { HOST, PORT } from '../contract/address.ts';
import type { ServerConfigInput } from '../server/config.ts';
import { numberFrom } from './option-values.ts';

/** No default here: the environment or the configuration file may have a value. */
export function hostOption(): Option {
  return new Option('--host <address>', `address to listen on (default: "${HOST}")`);
}

export function portOption(): Option {
  return new Option('--port <n>', `port to listen on; 0 picks one (default: ${PORT})`).argParser(
    numberFrom(0, 65_535),
  );
}

interface Address {
  host?: string | undefined;
  port?: number | undefined;
}

/** What an installation is told: the options as they are, and the file's address with the file's other settings. */
export function listenOn(
  options: Address,
  written: (Address & { service: Partial<ServerConfigInput> }) | null,
): Address & { service: Partial<ServerConfigInput> } {
  const { host, port } = options;
  const { host: fileHost, port: filePort, service } = written ?? {};
  return {
    host,
    port,
    service: {
      ...service,
      ...(fileHost !== undefined && { host: fileHost }),
      ...(filePort !== undefined && { port: filePort }),
    },
  };
}
