/** A device on loopback that the agent asks by SNMP, and that answers when told to with what nobody asked for, without end. */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

/** The port of SNMP, which only root may have. */
const PORT = 161;

export class SnmpDevices {
  static readonly ADDRESS = '127.42.7.1';
  flood = false;
  readonly #socket: Socket;
  #asker: RemoteInfo | undefined;
  #over = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (_message, from) => {
      this.#asker = from;
    });
    void this.#send();
  }

  /** @throws Error where the port may not be had */
  static async start(): Promise<SnmpDevices> {
    const socket = createSocket('udp4').bind(PORT, SnmpDevices.ADDRESS);
    await once(socket, 'listening');
    return new SnmpDevices(socket);
  }

  async #send(): Promise<void> {
    // Half of them begin like an answer (RFC 3416): a sequence, version 2c, the community, a response.
    const answer = Buffer.alloc(1_400, 0x30);
    Buffer.from('308205700201010406707562696361a2820563', 'hex').copy(answer);
    const junk = Buffer.alloc(1_400, 0x80);
    while (!this.#over) {
      for (let n = 0; this.flood && this.#asker !== undefined && n < 50; n += 1)
        this.#socket.send(n % 2 === 0 ? answer : junk, this.#asker.port, this.#asker.address);
      await pause(this.flood ? 1 : 50);
    }
  }

  [Symbol.dispose](): void {
    this.#over = true;
    this.#socket.close();
  }
}
