/** What devices and strangers on the printers' network may send: to the virtual printers' ports, and to the agent's search. */
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { encodeIpp } from '../../drivers/ipp/encode.ts';
import { ippRequest } from '../kit/wire/ipp-request.ts';
import { type Attack, honestly } from './callers.ts';
import type { Target } from './target.ts';

/** As many as a virtual printer takes at once. */
const CONNECTIONS = 64;

/** Sends `said`, reads nothing, hangs up after a moment, and again until the time is over. */
async function hitAndRun(port: number, said: Buffer, until: number): Promise<void> {
  while (performance.now() < until) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.pause().write(said);
    await Promise.race([closed, pause(300)]);
    socket.destroy();
    await closed;
  }
}

function flood(name: string, printer: string, say: (port: number) => Buffer): Attack {
  return {
    name,
    run: async (target, { seconds, share, patience }) => {
      const port = await target.portOf(printer);
      const said = say(port);
      const until = performance.now() + seconds * 1_000;
      const callers = Array.from({ length: CONNECTIONS }, () => hitAndRun(port, said, until));
      const during = await honestly(target, Promise.all(callers), patience);
      // What they have left behind is nobody's any more.
      return [...during, ...(await honestly(target, pause(2_000 + 3_000 * share), patience))];
    },
  };
}

function ippOf(port: number): Buffer {
  const body = encodeIpp(ippRequest('Get-Printer-Attributes', `ipp://127.0.0.1:${port}/ipp/print`));
  const head = `POST /ipp/print HTTP/1.1\r\nHost: x\r\nContent-Type: application/ipp\r\nContent-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

/** DNS-SD: whoever is on the network announces printers without end, each another one. */
function announcement(n: number): Buffer {
  const service = Buffer.from('\x0f_pdl-datastream\x04_tcp\x05local\0', 'latin1');
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0x8400, 2);
  const records = Array.from({ length: 100 }, (_, at) => {
    const name = `printer ${n}-${at}`;
    const data = Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([0xc0, 12])]);
    const fixed = Buffer.alloc(10);
    fixed.writeUInt16BE(12, 0);
    fixed.writeUInt16BE(1, 2);
    fixed.writeUInt32BE(4_500, 4);
    fixed.writeUInt16BE(data.length, 8);
    return Buffer.concat([at === 0 ? service : Buffer.from([0xc0, 12]), fixed, data]);
  });
  head.writeUInt16BE(records.length, 6);
  return Buffer.concat([head, ...records]);
}

/** A hundred times the question for printers, in a datagram. */
function questions(): Buffer {
  const head = Buffer.alloc(12);
  const name = Buffer.from('\x04_ipp\x04_tcp\x05local\0', 'latin1');
  const asked = Buffer.concat([name, Buffer.from([0, 12, 0, 1])]);
  head.writeUInt16BE(100, 4);
  return Buffer.concat([head, ...new Array<Buffer>(100).fill(asked)]);
}

/** Datagrams as fast as they go, in bursts, so that what sends them has other turns, too. */
async function datagrams(
  target: Target,
  { seconds, patience }: { seconds: number; patience: number },
  send: (socket: UdpSocket, n: number) => void,
): Promise<string[]> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const until = performance.now() + seconds * 1_000;
  const sending = async () => {
    for (let n = 0; performance.now() < until; n += 1) {
      send(socket, n);
      if (n % 20 === 0) await pause(1);
    }
  };
  try {
    return await honestly(target, sending(), patience);
  } finally {
    socket.close();
  }
}

export const BY_NEIGHBOURS: readonly Attack[] = [
  flood('~HS by the hundred thousand at a printer, from clients that hang up', 'virtual-1', () =>
    Buffer.from('~HS'.repeat(100_000)),
  ),
  flood('~HQES and variables without number at a printer', 'virtual-1', () =>
    Buffer.from('~HQES! U1 getvar "device.unique_id"\r\n'.repeat(10_000)),
  ),
  flood('labels without number at a printer', 'virtual-1', () =>
    Buffer.from('^XA^FO10,10^BQN,2,5^FDQA,x^FS^XZ'.repeat(10_000)),
  ),
  flood('IPP requests by the thousand on each connection', 'virtual-ipp-1', (port) =>
    Buffer.concat(Array.from({ length: 2_000 }, () => ippOf(port))),
  ),
  {
    name: 'printers announced without end by multicast DNS',
    alone: true,
    run: (target, options) =>
      datagrams(target, options, (socket, n) => socket.send(announcement(n), 5353, '224.0.0.251')),
  },
  {
    name: 'questions for printers without end by multicast DNS',
    alone: true,
    run: async (target, options) => {
      await target.offered();
      const asked = questions();
      return await datagrams(target, options, (socket) => socket.send(asked, 5353, '224.0.0.251'));
    },
  },
  {
    name: 'devices that answer SNMP without end',
    alone: true,
    run: async (target, { seconds, patience }) => {
      const devices = target.snmpDevices;
      if (devices === undefined) return [];
      devices.flood = true;
      try {
        return await honestly(target, pause(seconds * 1_000), patience);
      } finally {
        devices.flood = false;
      }
    },
  },
];
