/** The providers that a configuration asks for: one line each. Where nothing is asked for, nothing is searched. */
import { transportSchemes } from '../../../drivers/transports/index.ts';
import { cupsDiscovery } from './cups.ts';
import type { DiscoveryConfig } from './discovery-config.ts';
import { dnsSdDiscovery } from './dns-sd.ts';
import type { DiscoveryProvider } from './provider.ts';
import { snmpDiscovery } from './snmp.ts';
import { usbDiscovery } from './usb.ts';
import { zebraDiscovery } from './zebra-udp.ts';

export function providersOf(config: DiscoveryConfig): DiscoveryProvider[] {
  const { interfaces, cups, zebra, snmp, fingerprints } = config;
  const listenOn = interfaces === undefined ? {} : { interfaces };
  const server = typeof cups === 'string' ? { server: cups } : {};
  const providers = [
    config.dnsSd && dnsSdDiscovery({ ...listenOn, fingerprints }),
    cups !== false && cupsDiscovery({ ...server, fingerprints }),
    config.usb && usbDiscovery({ fingerprints }),
    zebra !== undefined && zebraDiscovery({ ...zebra, fingerprints }),
    snmp !== undefined && snmpDiscovery({ ...snmp, fingerprints }),
  ];
  return providers.filter((provider) => provider !== false).map(drivable);
}

/** Leaves out ways that there is no transport for, such as `lpd:`; `find` still tells of them. */
function drivable(provider: DiscoveryProvider): DiscoveryProvider {
  const scan = provider.scan.bind(provider);
  provider.scan = async (signal) =>
    (await scan(signal)).filter(({ uri }) => transportSchemes.includes(new URL(uri).protocol.slice(0, -1)));
  return provider;
}
