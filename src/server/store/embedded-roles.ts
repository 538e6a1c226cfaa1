/**
 * The roles in the embedded database. The cluster's owner is a superuser, which is used only to make what the
 * service needs: a database, and a role that may make its schemas in it and nothing else. Clusters of earlier
 * versions, in which the service was the superuser, are corrected at their first start.
 */
import { Client } from 'pg';
import { SERVICE } from './embedded-cluster.ts';

/** What `pg.Pool` and `pg.Client` take. It holds the password: keep it out of logs. */
export interface EmbeddedConnection {
  host: string;
  port: number;
  user: string;
  password: string;
  database: string;
}

/** Schemas that the service and its queues have made for themselves. */
const SCHEMAS = `('platen', 'lanes', 'bullmq')`;

/** Makes the service own what it made as superuser in earlier versions, since its migrations change that. */
const GIVE_OVER = `
  DO $$
  DECLARE statement text;
  BEGIN
    FOR statement IN
      SELECT format('ALTER TABLE %s OWNER TO ${SERVICE}', c.oid::regclass)
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname IN ${SCHEMAS} AND c.relkind IN ('r', 'p', 'v', 'm')
          AND c.relowner <> '${SERVICE}'::regrole
      UNION ALL
      SELECT format('ALTER SEQUENCE %s OWNER TO ${SERVICE}', c.oid::regclass)
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname IN ${SCHEMAS} AND c.relkind = 'S' AND c.relowner <> '${SERVICE}'::regrole
          AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype IN ('a', 'i'))
      UNION ALL
      SELECT format('ALTER ROUTINE %s OWNER TO ${SERVICE}', p.oid::regprocedure)
        FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE n.nspname IN ${SCHEMAS} AND p.proowner <> '${SERVICE}'::regrole
      UNION ALL
      SELECT format('ALTER TYPE %s OWNER TO ${SERVICE}', t.oid::regtype)
        FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
        WHERE n.nspname IN ${SCHEMAS} AND t.typtype IN ('e', 'd') AND t.typowner <> '${SERVICE}'::regrole
      UNION ALL
      SELECT format('ALTER SCHEMA %I OWNER TO ${SERVICE}', n.nspname)
        FROM pg_namespace n WHERE n.nspname IN ${SCHEMAS} AND n.nspowner <> '${SERVICE}'::regrole
    LOOP
      EXECUTE statement;
    END LOOP;
  END $$`;

/** Makes the service's role and database, or sees that they are as they have to be. Idempotent. */
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
  await asOwner({ ...owner, database }, (client) => client.query(GIVE_OVER));
}

async function asOwner(
  connection: EmbeddedConnection,
  work: (client: Client) => Promise<unknown>,
): Promise<void> {
  const client = new Client({ ...connection, connectionTimeoutMillis: 5_000, query_timeout: 30_000 });
  // An idle client's socket may break at any time; the query in hand then rejects.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
