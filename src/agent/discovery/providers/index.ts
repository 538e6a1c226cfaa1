/** The providers that a configuration asks for: one line each. Where nothing is asked for, nothing is searched. */

import type { DiscoveryConfig } from '../discovery-config.ts';
import type { DiscoveryProvider } from '../provider.ts';
import { cupsDiscovery } from './cups.ts';
import { dnsSdDiscovery } from './dns-sd/dns-sd.ts';
import { snmpDiscovery } from './snmp/snmp.ts';
import { usbDiscovery } from './usb.ts';
import { winspoolDiscovery } from './winspool.ts';
import { zebraDiscovery } from './zebra-udp.ts';

export function providersOf(config: DiscoveryConfig): DiscoveryProvider[] {
  const { interfaces, cups, zebra, snmp } = config;
  const listenOn = interfaces === undefined ? {} : { interfaces };
  const servers = typeof cups === 'boolean' ? [] : [...new Set([cups].flat())];
  const providers = [
    config.dnsSd && dnsSdDiscovery(listenOn),
    cups === true && cupsDiscovery(),
    ...servers.map((server, place) => cupsDiscovery({ server, ...(place > 0 && { id: `cups ${server}` }) })),
    config.usb && usbDiscovery(),
    config.winspool && winspoolDiscovery(),
    zebra !== undefined && zebraDiscovery(zebra),
    snmp !== undefined && snmpDiscovery(snmp),
  ];
  return providers.filter((provider) => provider !== false);
}
