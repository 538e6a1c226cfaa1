/**
 * LPrint, the label printer application of CUPS's author, in a network of the test's: it listens on all addresses,
 * whatever it is told.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Avahi } from '../discovery/avahi.ts';
import type { Network } from '../setup/network.ts';
import { Programs } from '../setup/programs.ts';

const PORT = 8632;

export interface Lprint {
  uri(printer: string): string;
  stop(): Promise<void>;
}

/** @param printers name → `[driver, device]`: `['zpl_4inch-203dpi-dt', 'socket://10.0.0.7:9100']` */
export async function startLprint(
  { network, avahi }: { network: Network; avahi: Avahi },
  printers: Readonly<Record<string, readonly [driver: string, device: string]>>,
): Promise<Lprint> {
  const root = mkdtempSync(join(tmpdir(), 'platen-test-lprint-'));
  const [home, spool, log] = [join(root, 'home'), join(root, 'spool'), join(root, 'log')];
  for (const directory of [home, spool]) mkdirSync(directory);
  // It keeps its printers there.
  const env = { ...avahi.environment, HOME: home };
  const { within, inside } = network;
  const programs = new Programs();
  const stop = async () => {
    await programs.end();
    rmSync(root, { recursive: true, force: true });
  };
  const server = async () => {
    const options = [`server-port=${PORT}`, `spool-directory=${spool}`, `log-file=${log}`];
    const program = programs.start('lprint', ['server', ...options.flatMap((one) => ['-o', one])], {
      env,
      within,
    });
    await program.until(() =>
      fetch(`http://${inside}:${PORT}/`, { signal: AbortSignal.timeout(2_000) }).then(
        () => true,
        () => false,
      ),
    );
    return program;
  };
  try {
    const first = await server();
    for (const [name, [driver, device]] of Object.entries(printers)) {
      // Only who is on the same machine may add printers.
      const [program = '', ...args] = [...within, 'lprint', 'add', '-u', `ipp://localhost:${PORT}/`];
      await promisify(execFile)(program, [...args, '-d', name, '-m', driver, '-v', device], { env });
    }
    // A printer that is added is not announced until the next start.
    await first.end();
    await server();
  } catch (error) {
    await stop();
    throw error;
  }
  return { uri: (printer) => `ipp://${inside}:${PORT}/ipp/print/${printer}`, stop };
}
