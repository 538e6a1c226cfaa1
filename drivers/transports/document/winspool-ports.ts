/**
 * The network address of a port of the Windows spooler, if the port belongs to the Standard TCP/IP Port monitor. It is the
 * address that was set up when the printer was added, so it says nothing about the device that is there now.
 *
 * It is read from the registry, where the monitor keeps it. Microsoft documents another way, WMI's Win32_TCPIPPrinterPort, but
 * that is a COM interface. This was tried under Wine with keys of the test's own, not on Windows.
 */
import { hostAndPort, inUri } from '../../address.ts';
import { TransportError } from '../../connection.ts';
import { socketAddress } from '../stream/tcp.ts';

/** In the registry of the machine; it has a key for each port. */
export const PORTS = 'SYSTEM\\CurrentControlSet\\Control\\Print\\Monitors\\Standard TCP/IP Port\\Ports';
/** HKEY_LOCAL_MACHINE, which is a pointer with this value. */
const LOCAL_MACHINE = -0x7ffffffe;
/** RRF_RT_REG_SZ, RRF_RT_REG_DWORD. */
const TEXT = 0x2;
const NUMBER = 0x10;
const LONGEST = 1_024;
/** Win32_TCPIPPrinterPort.Protocol. */
const LPR = 2;

type Read = (port: string, value: string, type: number) => Promise<Buffer | null>;
let loaded: Promise<Read> | undefined;

/** `socket://10.0.0.7:9100`, `lpd://10.0.0.7:515/queue`; null for any other port. On Windows only. */
export async function addressOfPort(port: string): Promise<string | null> {
  loaded ??= load();
  const read = await loaded;
  const text = async (value: string) => {
    const bytes = await read(port, value, TEXT);
    return bytes?.toString('utf16le').replace(/\0.*$/s, '').trim() ?? '';
  };
  const number = async (value: string) => (await read(port, value, NUMBER))?.readUInt32LE() ?? 0;
  return portAddress({
    host: (await text('HostName')) || (await text('IPAddress')),
    port: await number('PortNumber'),
    protocol: await number('Protocol'),
    queue: await text('Queue'),
  });
}

export interface TcpPort {
  host: string;
  port: number;
  protocol: number;
  queue: string;
}

/** The address of a port; null: its host is missing or not valid. */
export function portAddress({ host, port, protocol, queue }: TcpPort): string | null {
  const lpr = protocol === LPR;
  const place = lpr ? `lpd://${inUri(host)}:${port || 515}` : socketAddress(inUri(host), port || undefined);
  if (host === '' || !URL.canParse(place)) return null;
  try {
    hostAndPort(new URL(place), 0);
  } catch (error) {
    if (error instanceof TransportError) return null;
    throw error;
  }
  return lpr ? `${place}/${encodeURIComponent(queue)}` : place;
}

async function load(): Promise<Read> {
  const { default: koffi } = await import('koffi');
  const get = koffi
    .load('advapi32.dll')
    .func(
      'int32_t __stdcall RegGetValueW(intptr_t key, str16 path, str16 value, uint32_t types, void *type, _Out_ uint8_t *data, _Inout_ uint32_t *size)',
    );
  return (port, value, type) =>
    new Promise((resolve, reject) => {
      const data = Buffer.alloc(LONGEST);
      const size = [data.length];
      get.async(
        LOCAL_MACHINE,
        `${PORTS}\\${port}`,
        value,
        type,
        null,
        data,
        size,
        (error: unknown, code: unknown) => {
          if (error) reject(error);
          // Any code but success: there is no such port, or no such value.
          else resolve(code === 0 ? data.subarray(0, size[0]) : null);
        },
      );
    });
}
