/** Print systems of others, and what they need, that the tests and the benchmark run. */
import { existsSync } from 'node:fs';
import { type Needed, onPath } from './debian-packages.ts';

export const PEER_PACKAGES: Needed = {
  cups: () => onPath('cupsd') !== undefined,
  'cups-client': () => onPath('lpadmin') !== undefined,
  'cups-ipp-utils': () => onPath('ippeveprinter') !== undefined,
  ghostscript: () => onPath('gs') !== undefined,
  // ippeveprinter wants a bus to announce itself on, though it need not.
  dbus: () => onPath('dbus-daemon') !== undefined,
  // Peers that discovery is tested against, and the pseudo-terminal that stands for a USB printer.
  'cups-filters': () => existsSync('/usr/share/ppd/cupsfilters'),
  'avahi-daemon': () => onPath('avahi-daemon') !== undefined,
  'avahi-utils': () => onPath('avahi-publish') !== undefined,
  lprint: () => onPath('lprint') !== undefined,
  iproute2: () => onPath('ip') !== undefined,
  snmpd: () => onPath('snmpd') !== undefined,
  socat: () => onPath('socat') !== undefined,
};
