/** A UDP device of the test's own, on an address of 127.0.0.0/8, so that several can have the same port. */
import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

export interface UdpPeer {
  port: number;
  /** How many datagrams it got. */
  asked: () => number;
  send(answers: Uint8Array[], to: RemoteInfo): void;
}

/** @param answers what it sends back, one datagram each */
export async function udpPeer(
  address: string,
  answers: (asked: Buffer, from: RemoteInfo) => Uint8Array[],
  port = 0,
): Promise<UdpPeer> {
  const socket = createSocket('udp4');
  let count = 0;
  const send = (all: Uint8Array[], { port: to, address: at }: RemoteInfo) => {
    for (const answer of all) socket.send(answer, to, at);
  };
  socket.on('message', (message, from) => {
    count += 1;
    send(answers(message, from), from);
  });
  socket.bind(port, address);
  await once(socket, 'listening');
  onTestFinished(() => new Promise<void>((done) => void socket.close(() => done())));
  return { port: socket.address().port, asked: () => count, send };
}

export async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  await new Promise<void>((done) => void socket.close(() => done()));
  return port;
}
