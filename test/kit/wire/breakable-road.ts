/** A TCP road to a real server, which a test can close, and open again on the same port. */

import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { listening } from './listening.ts';

export class BreakableRoad {
  readonly #target: { host: string; port: number };
  readonly #address: string;
  readonly #sockets = new Set<Socket>();
  readonly #upstreams = new Set<Socket>();
  #server: Server | undefined;
  /** Connections made so far, or since `slam`. */
  connections = 0;
  /** How long each answer takes on connections that are made from now on, ms. */
  answersAfter = 0;
  port = 0;

  /** @param address where it listens */
  constructor(host: string, port: number, address = '127.0.0.1') {
    this.#target = { host, port };
    this.#address = address;
  }

  async open(): Promise<void> {
    const server = createServer((client) => {
      this.begun(client);
      const upstream = connect(this.#target);
      for (const socket of [client, upstream]) {
        this.#sockets.add(socket);
        socket.on('error', () => undefined);
        socket.on('close', () => this.#sockets.delete(socket));
      }
      this.#upstreams.add(upstream);
      upstream.on('close', () => this.#upstreams.delete(upstream));
      client.on('close', () => upstream.destroy());
      upstream.on('close', () => client.destroy());
      client.pipe(upstream);
      if (this.answersAfter === 0) upstream.pipe(client);
      else upstream.on('data', (bytes) => void setTimeout(() => client.write(bytes), this.answersAfter));
    });
    this.port = await listening(server, this.port, this.#address);
    this.#server = server;
  }

  protected begun(_client: Socket): void {
    this.connections += 1;
  }

  /** Existing connections break, new ones are refused. */
  async close(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = once(server, 'close');
    server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Existing connections break, and every new one at once after it was accepted. */
  slam(): void {
    this.connections = 0;
    this.#server?.removeAllListeners('connection');
    this.#server?.on('connection', (client) => {
      this.connections += 1;
      client.destroy();
    });
    for (const socket of this.#sockets) socket.destroy();
  }

  /** What is sent still gets there, and no answer comes back. */
  muteAnswers(): void {
    for (const upstream of this.#upstreams) upstream.unpipe();
  }

  /** Existing connections go silent, new ones are accepted and never answered. */
  silence(): void {
    for (const socket of this.#sockets) socket.unpipe();
    this.#server?.removeAllListeners('connection');
    this.#server?.on('connection', (client) => {
      this.#sockets.add(client);
      client.on('error', () => undefined);
    });
  }
}
