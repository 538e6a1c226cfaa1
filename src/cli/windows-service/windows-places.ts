/** The places of an installed agent on Windows: configuration, data and logs. */
import { win32 } from 'node:path';

/** The name of the service, also for people: `Get-Service platen-agent`. */
export const SERVICE_NAME = 'platen-agent';

interface WindowsPlaces {
  /** The directory of all the others; the rights are set on it. */
  home: string;
  config: string;
  data: string;
  logs: string;
}

/** @param home by default from the environment; a service is given it, since its environment may differ */
export function windowsPlaces(
  home = win32.join(process.env['ProgramData'] || 'C:\\ProgramData', 'Platen'),
): WindowsPlaces {
  return {
    home,
    config: win32.join(home, 'agent.json'),
    data: win32.join(home, 'data'),
    logs: win32.join(home, 'logs'),
  };
}
