/** A line to a server far away: whatever is sent arrives later, and in its order. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { listening } from '../test/kit/wire/listening.ts';

export class LongLine {
  readonly #to: { host: string; port: number };
  readonly #ms: number;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  /** @param ms what everything takes, one way */
  constructor(to: { host: string; port: number }, ms: number) {
    this.#to = to;
    this.#ms = ms;
    this.#server = createServer((near) => this.#join(near));
  }

  /** Resolves with its port on this machine. */
  async start(): Promise<number> {
    return await listening(this.#server);
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #join(near: Socket): void {
    const far = connect(this.#to);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from);
      from.setNoDelay(true);
      from.on('error', () => undefined);
      from.on('data', (bytes) => void setTimeout(() => to.writable && to.write(bytes), this.#ms));
      from.on('close', () => {
        this.#sockets.delete(from);
        setTimeout(() => to.destroy(), this.#ms);
      });
    }
  }
}
