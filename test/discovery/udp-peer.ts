/** A UDP device of the test's own, on an address of 127.0.0.0/8, so that several can have the same port. */
import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

export interface UdpPeer {
  port: number;
  /** How many datagrams it got. */
  asked: () => number;
}

/** @param answers what it sends back, one datagram each */
export async function udpPeer(
  address: string,
  answers: (asked: Buffer, from: RemoteInfo) => Uint8Array[],
  port = 0,
): Promise<UdpPeer> {
  const socket = createSocket('udp4');
  let count = 0;
  socket.on('message', (message, from) => {
    count += 1;
    for (const answer of answers(message, from)) socket.send(answer, from.port, from.address);
  });
  socket.bind(port, address);
  await once(socket, 'listening');
  onTestFinished(() => new Promise<void>((done) => void socket.close(() => done())));
  return { port: socket.address().port, asked: () => count };
}
