/**
 * The providers that a configuration can ask for. To add one, write a `providerKind` in a file or folder here: its settings,
 * and the providers that these settings ask for. Then add its name to both lists. A provider that the configuration does not
 * ask for searches nothing.
 */
import type { Transports } from '../../../../drivers/transports/transports.ts';
import type { DiscoveryProvider, providerKind } from '../provider.ts';
import { cups } from './cups.ts';
import { dnsSd } from './dns-sd/dns-sd.ts';
import { snmp } from './snmp/snmp.ts';
import { usb } from './usb.ts';
import { winspool } from './winspool.ts';
import { zebra } from './zebra-udp.ts';

export const providerSettings = {
  ...dnsSd.settings,
  ...cups.settings,
  ...usb.settings,
  ...winspool.settings,
  ...zebra.settings,
  ...snmp.settings,
};
type Asked = ReturnType<typeof providerKind<typeof providerSettings>>['asked'];

const PROVIDERS: readonly { asked: Asked }[] = [dnsSd, cups, usb, winspool, zebra, snmp];

/** The providers that the configuration asks for. @param transports the transports that can drive what they find */
export function providersOf(config: Parameters<Asked>[0], transports: Transports): DiscoveryProvider[] {
  return PROVIDERS.flatMap(({ asked }) => asked(config, transports));
}
