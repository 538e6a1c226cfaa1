/**
 * The providers that a configuration can ask for. To add one: a file or folder here, which says what the operator sets
 * to have it looked there and what is made of that (`ProviderKind`), and its name in both lists. Where nothing is asked
 * for, nothing is searched.
 */
import type { Transports } from '../../../../drivers/transports/transports.ts';
import type { DiscoveryProvider, ProviderKind } from '../provider.ts';
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
type Asked = Pick<ProviderKind<typeof providerSettings>, 'asked'>;

const PROVIDERS: readonly Asked[] = [dnsSd, cups, usb, winspool, zebra, snmp];

/** Those that the configuration asks for. @param transports those that addresses may be of */
export function providersOf(
  config: Parameters<Asked['asked']>[0],
  transports: Transports,
): DiscoveryProvider[] {
  return PROVIDERS.flatMap(({ asked }) => asked(config, transports));
}
