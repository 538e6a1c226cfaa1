/** Samba's server with one share, for guests, on a free port of loopback; and clients that write into it. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { freePort, takesConnections } from '../wire/listening.ts';
import { OwnPrograms } from './programs.ts';

/** Bytes that a client sends at a time. */
export const SMB_WRITE = 65_536;

export interface Smbd {
  /** A client that writes a file of this name, as it is given the bytes. */
  put(name: string): SmbWriter;
  stop(): Promise<void>;
}

/** @param folder which it shares */
export async function startSmbd(folder: string): Promise<Smbd> {
  const programs = new OwnPrograms('smbd');
  const { root, stop } = programs;
  const places = ['private dir', 'lock directory', 'state directory', 'cache directory', 'pid directory'];
  const port = await freePort();
  const configuration = join(root, 'smb.conf');
  const { username } = userInfo();
  for (const place of [...places, 'ncalrpc dir']) await mkdir(join(root, place));
  await writeFile(
    configuration,
    [
      '[global]',
      'server role = standalone server',
      'interfaces = lo',
      'bind interfaces only = yes',
      `smb ports = ${port}`,
      ...[...places, 'ncalrpc dir'].map((place) => `${place} = ${join(root, place)}`),
      `log file = ${join(root, 'log')}`,
      'map to guest = Bad User',
      `guest account = ${username}`,
      'disable spoolss = yes',
      'load printers = no',
      'server services = -dcerpc',
      `smb2 max write = ${SMB_WRITE}`,
      '[labels]',
      `path = ${folder}`,
      'guest ok = yes',
      'read only = no',
      `force user = ${username}`,
    ].join('\n'),
  );
  // In a process group of its own, whose end it is: `--no-process-group` would end ours.
  const server = programs.start('smbd', ['--foreground', `--configfile=${configuration}`]);
  await programs.up(() => server.until(() => takesConnections(port)));
  return {
    put: (name) => new SmbWriter(configuration, port, name),
    stop,
  };
}

class SmbWriter {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  #said = '';

  constructor(configuration: string, port: number, name: string) {
    const words = ['//127.0.0.1/labels', '-N', '-p', String(port), '-s', configuration];
    const command = `iosize ${SMB_WRITE}; put - "${name}"`;
    this.#child = spawn('smbclient', [...words, '-c', command], { stdio: ['pipe', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.on('data', (bytes) => {
        this.#said += String(bytes);
      });
    }
    // A client that was killed reads no more.
    this.#child.stdin.on('error', () => undefined);
  }

  write(bytes: string | Uint8Array): void {
    this.#child.stdin.write(bytes);
  }

  /** The file is whole. @throws Error with what the client said, where it is not */
  async end(bytes: string | Uint8Array = ''): Promise<void> {
    const exited = once(this.#child, 'exit', { signal: AbortSignal.timeout(60_000) });
    this.#child.stdin.end(bytes);
    const [code] = await exited;
    if (code !== 0) throw new Error(`smbclient ended with ${code}: ${this.#said}`);
  }

  /** Ends in the middle. */
  async kill(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }
}
