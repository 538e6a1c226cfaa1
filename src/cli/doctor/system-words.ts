/** The words of an advice that depend on the system: how a person starts a service, and where to look. */
import { windowsPlaces } from '../windows-service/windows-places.ts';

interface SystemWords {
  start(unit: string): string;
  /** Where the service's log is read. */
  log(unit: string): string;
  resolver: string;
  /** To run a command with the rights to look at everything. */
  asAdministrator: string;
}

const LINUX: SystemWords = {
  start: (unit) => `systemctl start ${unit}`,
  log: (unit) => `journalctl -u ${unit} -n 30`,
  resolver: '/etc/resolv.conf',
  asAdministrator: 'as root or as the user of the service: sudo platen doctor',
};

const WINDOWS: SystemWords = {
  start: () => 'platen service start',
  log: () => `the end of ${windowsPlaces().logs}\\agent.log`,
  resolver: 'ipconfig /all',
  asAdministrator: 'as administrator: platen doctor',
};

export const SYSTEM = process.platform === 'win32' ? WINDOWS : LINUX;
