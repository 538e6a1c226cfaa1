/** Connects to an embedded database that another process runs. */
import { readFile, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DATABASE, OWNER, ownPassword, SERVICE, servicePassword } from './embedded-cluster.ts';
import type { EmbeddedConnection } from './embedded-roles.ts';
import { chooseAddress, makeWay } from './embedded-server.ts';

/** Lines of `postmaster.pid`, from 0: https://www.postgresql.org/docs/18/storage-file-layout.html */
const PORT_LINE = 3;

/** The service's connection to the database in this directory. @throws the error of a file that cannot be read */
export async function reachEmbedded(
  dataDir: string,
): Promise<{ service: EmbeddedConnection } & AsyncDisposable> {
  const directory = await realpath(dataDir);
  const data = join(directory, 'postgres/data');
  const password = servicePassword(await ownPassword(directory));
  const address = await chooseAddress(data);
  await makeWay(address, data);
  const { host, shortWay } = address;
  const lines = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n');
  const port = Number(lines[PORT_LINE]);
  return {
    service: { host, port, user: SERVICE, password, database: DATABASE },
    [Symbol.asyncDispose]: async () => {
      if (shortWay !== undefined) await rm(shortWay, { recursive: true, force: true });
    },
  };
}

/** The connection of the database's owner, for a database that this process has started. */
export async function ownerOf(dataDir: string, service: EmbeddedConnection): Promise<EmbeddedConnection> {
  return { ...service, user: OWNER, password: await ownPassword(await realpath(dataDir)) };
}
