/**
 * The roles in the embedded database. The cluster's owner is a superuser. It is used only to make what the service needs: a
 * database, and a role that may make its schemas in this database and nothing else.
 */
import { Client } from 'pg';

/** What `pg.Pool` and `pg.Client` take. It holds the password: keep it out of logs. */
export interface EmbeddedConnection {
  host: string;
  port: number;
  user: string;
  password: string;
  database: string;
}

/** Makes the service's role and database if they are missing, and sets the role's rights and password. Idempotent. */
export async function makeServiceRole(owner: EmbeddedConnection, service: EmbeddedConnection): Promise<void> {
  const { database, user, password } = service;
  await asOwner({ ...owner, database: 'postgres' }, async (client) => {
    const role = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [user]);
    if (role.rowCount === 0) await client.query(`CREATE ROLE ${user}`);
    await client.query(
      `ALTER ROLE ${user} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS
         PASSWORD ${client.escapeLiteral(password)}`,
    );
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [database]);
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${database}`);
    await client.query(`
      REVOKE ALL ON DATABASE postgres, template1, ${database} FROM PUBLIC;
      GRANT CONNECT, CREATE, TEMPORARY ON DATABASE ${database} TO ${user}`);
  });
}

async function asOwner(
  connection: EmbeddedConnection,
  work: (client: Client) => Promise<unknown>,
): Promise<void> {
  const client = new Client({ ...connection, connectionTimeoutMillis: 5_000, query_timeout: 30_000 });
  // The connection may break at any time. A query under way then rejects, so there is nothing to do here.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
