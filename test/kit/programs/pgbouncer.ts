/** PgBouncer before a database of the test's, on a free port. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, takesConnections } from '../wire/listening.ts';
import { Programs } from './programs.ts';

export interface Pgbouncer {
  /** The database, through it. */
  databaseUrl: string;
  stop(): Promise<void>;
}

/** @param mode for how long it lends a connection */
export async function startPgbouncer(
  databaseUrl: string,
  mode: 'session' | 'transaction',
): Promise<Pgbouncer> {
  const root = mkdtempSync(join(tmpdir(), 'platen-test-pgbouncer-'));
  // It does not run as root.
  chmodSync(root, 0o755);
  const { hostname, port: behind, username, password } = new URL(databaseUrl);
  const port = await freePort();
  const file = join(root, 'pgbouncer.ini');
  const secret = password === '' ? '' : ` password=${decodeURIComponent(password)}`;
  writeFileSync(
    file,
    `[databases]
* = host=${hostname} port=${behind} user=${decodeURIComponent(username)}${secret}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 50
`,
  );
  const programs = new Programs();
  const stop = async () => {
    await programs.end();
    rmSync(root, { recursive: true, force: true });
  };
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  try {
    await programs.start('/usr/sbin/pgbouncer', [...user, file]).until(() => takesConnections(port));
  } catch (error) {
    await stop();
    throw error;
  }
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return { databaseUrl: url.href, stop };
}
