/** A connection to PostgreSQL that ends in bounded time, whether the server answers or not. */
import { Client } from 'pg';

/** How long a server has to close a connection after the goodbye, ms. */
const GOODBYE_MS = 1_000;

/**
 * node-postgres says goodbye and waits until the server closes the connection: one that has fallen silent never does,
 * and the socket would keep whoever waits for the end, and the process, alive.
 */
export class PostgresClient extends Client {
  override end(): Promise<void>;
  override end(callback: (error: Error) => void): void;
  override end(callback?: (error: Error) => void): Promise<void> | void {
    setTimeout(() => this.connection.stream.destroy(), GOODBYE_MS).unref();
    return callback === undefined ? super.end() : super.end(callback);
  }
}
