/** A connection to PostgreSQL without JIT, which ends in bounded time even if the server is silent. */
import { Client, type ClientConfig, TypeOverrides, types } from 'pg';
import { parseJson } from '../../contract/parse-json.ts';
import { QueueError } from '../queue-error.ts';

/** How long a server has to close a connection after the goodbye, ms. */
const GOODBYE_MS = 1_000;

const JSON_TYPES = new TypeOverrides();
for (const type of [types.builtins.JSON, types.builtins.JSONB]) JSON_TYPES.setTypeParser(type, parseJson);

/**
 * At its end node-postgres says goodbye, and waits until the server closes the connection. A server that has fallen silent
 * never does: the caller would wait for ever, and the socket would keep the process alive.
 *
 * The first statement sets the connection up, because a pooler (PgBouncer) takes no settings from the startup message. `jit` is
 * off, because PostgreSQL compiles every statement that it takes for costly, and without statistics of a table it often errs:
 * compiling takes 0.5 to 5 s of a core for a statement that then runs in milliseconds.
 *
 * JSON columns hold records. Strangers choose the names in them, so they are read with `parseJson`.
 */
export class PostgresClient extends Client {
  readonly #settings: string;

  constructor(config: ClientConfig = {}) {
    const { statement_timeout, lock_timeout, idle_in_transaction_session_timeout, ...others } = config;
    // A pool makes `password` not enumerable in the config that it hands over, so the spread leaves it out.
    super({ types: JSON_TYPES, ...others, password: config.password });
    const limits = Object.entries({ statement_timeout, lock_timeout, idle_in_transaction_session_timeout });
    // When a connection breaks, the statement in hand fails, or the next one. Without a listener the event would end the
    // process.
    this.on('error', () => undefined);
    this.#settings = [
      'SET jit = off',
      ...limits.flatMap(([name, ms]) => (typeof ms === 'number' ? [`SET ${name} = ${ms}`] : [])),
    ].join('; ');
  }

  override connect(): Promise<this>;
  override connect(callback: (error: Error | null, client?: this) => void): void;
  override connect(callback?: (error: Error | null, client?: this) => void): Promise<this> | undefined {
    const connected = super.connect().then(async () => {
      try {
        await this.query(this.#settings);
        return this;
      } catch (error) {
        // A pool whose client failed to connect does not close the client's socket.
        this.connection.stream.destroy();
        throw error;
      }
    });
    if (callback === undefined) return connected;
    connected.then((client) => callback(null, client), callback);
    return undefined;
  }

  override end(): Promise<void>;
  override end(callback: (error: Error) => void): void;
  override end(callback?: (error: Error) => void): Promise<void> | void {
    setTimeout(() => this.connection.stream.destroy(), GOODBYE_MS).unref();
    return callback === undefined ? super.end() : super.end(callback);
  }
}

const PROCESS = 'SELECT pg_backend_pid() AS pid';

/**
 * Refuses a pooler that lends a connection for one transaction only: locks, settings and notifications of one client would come
 * to another. Such a pooler gives the second client the connection that the first has left free, so both see the same server
 * process.
 * @param first connected, and in no transaction
 * @throws QueueError `refused`
 */
export async function refuseLentConnections(first: Client, config: ClientConfig): Promise<void> {
  const second = new PostgresClient(config);
  try {
    await second.connect();
    const processes = [];
    for (const client of [first, second]) {
      processes.push((await client.query<{ pid: number }>(PROCESS)).rows[0]?.pid);
    }
    if (processes[0] !== processes[1]) return;
    throw new QueueError(
      'refused',
      'PostgreSQL is behind a pooler that lends connections for one transaction: have it lend them for a session ' +
        '(PgBouncer: pool_mode = session), or name the server itself',
    );
  } finally {
    await second.end().catch(() => undefined);
  }
}
