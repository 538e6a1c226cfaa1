/**
 * LPrint, the label printer application of CUPS's author, in a network of the test's: it listens on all addresses,
 * whatever it is told.
 */
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { takesConnections } from '../wire/listening.ts';
import type { Avahi } from './avahi.ts';
import type { Network } from './network.ts';
import { OwnPrograms } from './programs.ts';

const PORT = 8632;
/**
 * Gives LPrint an /etc/cups/ssl of its own. As root it makes its certificate there, under its host's name, as
 * every CUPS program of the machine does. Of two that start at once, one overwrites the certificate that the
 * other has shown already, and clients that have seen it trust that program no more.
 */
const OWN_KEYS = 'mkdir -p /etc/cups/ssl && mount -t tmpfs none /etc/cups/ssl && exec "$0" "$@"';

export interface Lprint {
  uri(printer: string): string;
  stop(): Promise<void>;
}

/**
 * @param site where it runs, and announces itself
 * @param printers name → `[driver, device]`: `['zpl_4inch-203dpi-dt', 'socket://10.0.0.7:9100']`
 */
export async function startLprint(
  { network, avahi }: { network: Network; avahi?: Avahi },
  printers: Readonly<Record<string, readonly [driver: string, device: string]>>,
): Promise<Lprint> {
  // It would wait for its clients to go, and has nothing to lose.
  const programs = new OwnPrograms('lprint', 'SIGKILL');
  const { root, stop } = programs;
  const [home, spool, log] = [join(root, 'home'), join(root, 'spool'), join(root, 'log')];
  for (const directory of [home, spool]) mkdirSync(directory);
  // LPrint keeps its printers in HOME.
  const env = { ...(avahi?.environment ?? process.env), HOME: home };
  const { within, inside } = network;
  const server = async () => {
    const options = [`server-port=${PORT}`, `spool-directory=${spool}`, `log-file=${log}`];
    const command = ['lprint', 'server', ...options.flatMap((one) => ['-o', one])];
    const program = programs.start('unshare', ['--mount', 'sh', '-c', OWN_KEYS, ...command], { env, within });
    await program.until(() => takesConnections(PORT, inside));
    return program;
  };
  await programs.up(async () => {
    const first = await server();
    for (const [name, [driver, device]] of Object.entries(printers)) {
      // LPrint lets only clients on the same machine add printers.
      const [program = '', ...args] = [...within, 'lprint', 'add', '-u', `ipp://localhost:${PORT}/`];
      await promisify(execFile)(program, [...args, '-d', name, '-m', driver, '-v', device], { env });
    }
    // A printer that is added is not announced until the next start.
    await first.end();
    await server();
  });
  return { uri: (printer) => `ipp://${inside}:${PORT}/ipp/print/${printer}`, stop };
}
