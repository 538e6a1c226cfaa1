/** An agent's own way to a printer that others reach too; what it sends of labels is noted, in the order of all. */

import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { listening } from './listening.ts';

/** Whose label bytes came, one entry for each time that the sender changed. */
export type Senders = string[];

export class Tap {
  readonly #name: string;
  readonly #senders: Senders;
  readonly #printerPort: number;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;
  /** How many the agent has made. */
  connections = 0;

  constructor(name: string, printerPort: number, senders: Senders) {
    this.#name = name;
    this.#printerPort = printerPort;
    this.#senders = senders;
  }

  get uri(): string {
    return `socket://127.0.0.1:${this.#port}`;
  }

  async open(): Promise<void> {
    const server = createServer((agent) => {
      this.connections += 1;
      const printer = connect(this.#printerPort, '127.0.0.1');
      for (const socket of [agent, printer]) {
        this.#sockets.add(socket);
        socket.on('error', () => undefined);
        socket.on('close', () => this.#sockets.delete(socket));
      }
      agent.on('data', (bytes: Buffer) => {
        // Status and identity are asked in commands that stand outside of labels.
        if (bytes.includes('^FD') && this.#senders.at(-1) !== this.#name) this.#senders.push(this.#name);
      });
      agent.on('close', () => printer.destroy());
      printer.on('close', () => agent.destroy());
      agent.pipe(printer);
      printer.pipe(agent);
    });
    this.#port = await listening(server, this.#port);
    this.#server = server;
  }

  /** Connections break, and new ones are refused. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = once(server, 'close');
    server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
