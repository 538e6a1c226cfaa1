/**
 * A back-up of what the service keeps, and its way back into an embedded database.
 *
 * It is a snapshot: one transaction reads all tables of the schema `platen` while the service goes on. The lanes are not in
 * it: what they hold follows from the jobs. Nor are sessions, links and failed sign-ins, which somebody may have ended since.
 *
 * A restored database does not know what was printed since the snapshot. So each job of which something may have been printed
 * since is held. It goes on under a name that no round since can have had: neither a lane nor an agent's journal takes it for
 * what it knows.
 */
import { type Client, type ClientConfig, escapeIdentifier } from 'pg';
import { z } from 'zod';
import metadata from '../../../../package.json' with { type: 'json' };
import { faultFor } from '../../../contract/fault.ts';
import { statesBefore } from '../../../contract/job-life.ts';
import { because } from '../../../contract/reason.ts';
import { migrate, migrationFiles, PostgresClient } from '../../../queue/index.ts';
import { type EmbeddedConnection, makeServiceRole } from '../embedded-roles.ts';
import { inSql, onlyRow, rowsOf } from '../pool.ts';
import { PLATEN } from '../schema.ts';
import { BackupError } from './backup-error.ts';
import { aboutBackup, type BackupPart, readBackup, writeBackup } from './backup-file.ts';
import { copyIn, copyOut } from './copy.ts';

/** Tables whose rows stay behind: `migrations` is written by what makes the schema. */
const LEFT_OUT = [
  'migrations',
  'sessions',
  'one_time_tokens',
  'passkey_challenges',
  'token_failures',
  'agent_invitations',
];
/** More rounds than people decide about a job in the life of a back-up. */
const ROUNDS_SINCE = 500;
/** ms for one statement but COPY, which ends when the server falls silent. */
const STATEMENT_MS = 10 * 60_000;
/** The database that a back-up goes into, until it is whole. */
const MEANWHILE = 'platen_restored';
const REPLACED = 'platen_replaced';

const tableRow = z.object({ table: z.string(), columns: z.array(z.string()) });
const counterRow = z.object({ name: z.string(), last: z.string() });
const migrationRow = z.object({ name: z.string(), sha256: z.string() });
const heldRow = z.object({
  id: z.string(),
  tenant: z.string(),
  template: z.string(),
  printer: z.string(),
  printed: z.int(),
  total: z.int(),
});
/** A job that was held: what was printed of it when the back-up was made, and how many labels it has. */
type HeldJob = z.infer<typeof heldRow>;

/**
 * Writes what the database holds at this moment.
 * @param database of the service's role
 * @returns the tables, and how many bytes of rows they had
 * @throws pg's error; as `writeBackup`
 */
export async function makeBackup(
  database: ClientConfig,
  file: string,
  signal: AbortSignal,
): Promise<{ at: string; tables: number; bytes: number }> {
  return await connected(database, async (client) => {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const { at } = await onlyRow(client, z.object({ at: z.date() }), 'SELECT clock_timestamp() AS at');
    const schema = await rowsOf(
      client,
      migrationRow,
      'SELECT name, sha256 FROM platen.migrations ORDER BY name',
    );
    const tables = await rowsOf(
      client,
      tableRow,
      `SELECT c.relname AS table, array_agg(a.attname::text ORDER BY a.attnum) AS columns
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
       WHERE c.relnamespace = 'platen'::regnamespace AND c.relkind = 'r' AND c.relname <> ALL ($1)
         AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
       GROUP BY c.relname ORDER BY c.relname`,
      [LEFT_OUT],
    );
    let bytes = 0;
    async function* parts(): AsyncGenerator<BackupPart> {
      for (const one of tables) {
        yield { kind: 'table', ...one };
        for await (const rows of copyOut(client, `COPY ${named(one)} TO STDOUT`)) {
          bytes += rows.length;
          yield { kind: 'rows', bytes: rows };
        }
      }
      // Not of the snapshot: a counter may stand further than the rows need, and never less.
      const counters = await rowsOf(
        client,
        counterRow,
        `SELECT sequencename AS name, last_value::text AS last FROM pg_sequences
         WHERE schemaname = 'platen' AND last_value IS NOT NULL ORDER BY 1`,
      );
      yield { kind: 'counters', counters };
    }
    const about = { platen: metadata.version, at: at.toISOString(), schema };
    await writeBackup(file, about, parts(), signal);
    return { at: about.at, tables: tables.length, bytes };
  });
}

/**
 * Reads the whole file, and whether this version knows the schema that it is of. Nothing is changed.
 * @throws BackupError `not-a-backup`, `newer`, `damaged`
 */
export async function checkBackup(file: string): Promise<{ at: string; platen: string }> {
  const { schema, platen, at } = await aboutBackup(file);
  const known = await migrationFiles(PLATEN);
  const unknown = schema.find(
    ({ name, sha256 }) => !known.some((one) => one.name === name && one.sha256 === sha256),
  );
  if (unknown !== undefined) {
    throw new BackupError(
      'newer',
      `${file} was written by Platen ${platen}, whose database this version (${metadata.version}) does not know (${unknown.name}): restore it with that version, or a later one`,
    );
  }
  for await (const _part of readBackup(file));
  return { at, platen };
}

/**
 * Puts the back-up into the place of what the database holds, all of it or nothing. No service may run on it.
 * @param force replace the data that is there
 * @returns the jobs that are held now
 * @throws BackupError as `checkBackup`, and `holds-data`; pg's error
 */
export async function restoreBackup(
  { owner, service, force }: { owner: EmbeddedConnection; service: EmbeddedConnection; force: boolean },
  file: string,
): Promise<{ held: HeldJob[] }> {
  const { schema } = await aboutBackup(file);
  const has = z.object({ data: z.boolean() });
  const { data } = await connected(service, (client) =>
    onlyRow(client, has, `SELECT to_regclass('platen.jobs') IS NOT NULL AS data`),
  );
  if (data && !force) {
    throw new BackupError('holds-data', 'there is a database already: --force replaces it');
  }
  const elsewhere = { ...owner, database: 'postgres' };
  await connected(elsewhere, async (client) => {
    for (const left of [MEANWHILE, REPLACED])
      await client.query(`DROP DATABASE IF EXISTS ${left} WITH (FORCE)`);
  });
  const into = { ...service, database: MEANWHILE };
  await makeServiceRole({ ...owner, database: MEANWHILE }, into);
  await migrate(
    into,
    PLATEN,
    schema.map(({ name }) => name),
  );
  await connected({ ...owner, database: MEANWHILE }, (client) => load(client, file));
  const held = await connected(into, hold);
  await connected(elsewhere, async (client) => {
    await client.query(`BEGIN; ALTER DATABASE ${service.database} RENAME TO ${REPLACED};
      ALTER DATABASE ${MEANWHILE} RENAME TO ${service.database}; COMMIT`);
    await client.query(`DROP DATABASE ${REPLACED} WITH (FORCE)`);
  });
  return { held };
}

/** Loads the rows as they were. No trigger changes them, and no foreign key minds the order of the tables. */
async function load(client: Client, file: string): Promise<void> {
  await client.query(`BEGIN; SET LOCAL session_replication_role = replica`);
  const parts = readBackup(file);
  let part = await parts.next();
  while (!part.done) {
    const { value } = part;
    if (value.kind === 'counters') {
      for (const { name, last } of value.counters)
        await client.query('SELECT setval($1::regclass, $2)', [`platen.${escapeIdentifier(name)}`, last]);
      part = await parts.next();
    } else if (value.kind === 'table') {
      const rows = async function* () {
        for (part = await parts.next(); !part.done && part.value.kind === 'rows'; part = await parts.next())
          yield part.value.bytes;
      };
      await copyIn(client, `COPY ${named(value)} FROM STDIN`, rows());
    } else {
      throw new BackupError('damaged', `${file} is not whole: rows of no table`);
    }
  }
  await client.query('COMMIT');
}

function named({ table, columns }: z.infer<typeof tableRow>): string {
  return `platen.${escapeIdentifier(table)} (${columns.map(escapeIdentifier).join(', ')})`;
}

/**
 * Holds what may have been printed since: jobs under way, held ones, which a person may have let go on, and failed ones that
 * a person could have go on now.
 */
async function hold(client: Client): Promise<HeldJob[]> {
  const fault = faultFor('outcome-unknown', because('restored-from-backup', {})).fault;
  return await rowsOf(
    client,
    heldRow,
    `WITH held AS (
       UPDATE platen.jobs SET status = 'held', round = round + ${ROUNDS_SINCE}, reasons = '{}', error = $1,
         uncertain_from = printed, uncertain_to = records * copies, updated_at = now(), cancel_requested_at = NULL,
         move_to = NULL, delivery = 0, report_seq = 0
       WHERE status IN (${inSql(statesBefore('held', 'restore'))}) AND (status <> 'failed' OR payload IS NOT NULL)
       RETURNING id, tenant_id, template_name, printer_name, printed, records * copies AS total, seq)
     SELECT id, tenant_id AS tenant, template_name AS template, printer_name AS printer, printed, total
     FROM held ORDER BY seq`,
    [JSON.stringify(fault)],
  );
}

async function connected<T>(database: ClientConfig, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new PostgresClient({
    ...database,
    application_name: 'platen-backup',
    connectionTimeoutMillis: 10_000,
    statement_timeout: STATEMENT_MS,
    lock_timeout: STATEMENT_MS,
  });
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end();
  }
}
