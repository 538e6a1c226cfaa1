/** A connection to PostgreSQL that ends in bounded time, whether the server answers or not, and compiles no statement. */
import { Client, type ClientConfig } from 'pg';

/** How long a server has to close a connection after the goodbye, ms. */
const GOODBYE_MS = 1_000;

/**
 * node-postgres says goodbye and waits until the server closes the connection: one that has fallen silent never does,
 * and the socket would keep whoever waits for the end, and the process, alive.
 */
export class PostgresClient extends Client {
  /**
   * PostgreSQL compiles a statement that it takes for costly, as it does in tables that it has not counted yet: 0.5 to
   * 5 s of a core for what then runs in milliseconds. Options of the URL take the place of these.
   */
  constructor(config: ClientConfig = {}) {
    const options = `${process.env['PGOPTIONS'] ?? ''} -c jit=off`;
    // A pool hides the password from those who list what it hands over.
    super({ options, ...config, password: config.password });
  }

  override end(): Promise<void>;
  override end(callback: (error: Error) => void): void;
  override end(callback?: (error: Error) => void): Promise<void> | void {
    setTimeout(() => this.connection.stream.destroy(), GOODBYE_MS).unref();
    return callback === undefined ? super.end() : super.end(callback);
  }
}
