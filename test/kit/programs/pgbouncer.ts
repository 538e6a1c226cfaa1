/** PgBouncer before a database of the test's, on a free port. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, takesConnections } from '../wire/listening.ts';
import { OwnPrograms } from './programs.ts';

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
  const programs = new OwnPrograms('pgbouncer');
  const { root, stop } = programs;
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
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  await programs.up(() =>
    programs.start('/usr/sbin/pgbouncer', [...user, file]).until(() => takesConnections(port)),
  );
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return { databaseUrl: url.href, stop };
}
