/** The options for the address on which a service listens. */
import { Option } from 'commander';
import { numberFrom } from './option-values.ts';

export const HOST = '127.0.0.1';
export const PORT = 8310;

/** No default here: the configuration file may have a value. */
export function hostOption(): Option {
  return new Option('--host <address>', `address to listen on (default: "${HOST}")`);
}

export function portOption(): Option {
  return new Option('--port <n>', `port to listen on; 0 picks one (default: ${PORT})`).argParser(
    numberFrom(0, 65_535),
  );
}
