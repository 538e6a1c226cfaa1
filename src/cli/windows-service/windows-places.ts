/** Where an installed agent has what is its own on Windows. */
import { win32 } from 'node:path';

/** For a person too: `Get-Service platen-agent`. */
export const SERVICE_NAME = 'platen-agent';

export interface WindowsPlaces {
  /** All of it: who may read it is set here. */
  home: string;
  config: string;
  data: string;
  logs: string;
}

/** @param home the usual one, as everybody's environment has it; a service is told, since its own may be another */
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
