/**
 * Whole tables to and from PostgreSQL (COPY). node-postgres has the protocol's messages and leaves the rest to others:
 * https://www.postgresql.org/docs/18/protocol-flow.html#PROTOCOL-COPY
 */
import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { Client, Connection, Submittable } from 'pg';

/** A server that says and takes nothing for so long is given up, ms. */
const SILENCE_MS = 60_000;

/** A statement of the simple protocol, as node-postgres runs it. */
class Copy implements Submittable {
  readonly ended = Promise.withResolvers<void>();
  readonly #sql: string;
  protected connection: Connection | undefined;

  constructor(sql: string) {
    this.#sql = sql;
    // Who waits for it may not do so yet.
    this.ended.promise.catch(() => undefined);
  }

  submit(connection: Connection): void {
    this.connection = connection;
    connection.query(this.#sql);
  }

  handleError(error: Error): void {
    this.ended.reject(error);
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.ended.resolve();
  }
}

class CopyOut extends Copy {
  readonly rows: Readable;
  #silence: NodeJS.Timeout | undefined;

  constructor(sql: string) {
    super(sql);
    this.rows = new Readable({
      read: () => {
        this.#listen();
        this.connection?.stream.resume();
      },
      destroy: (error, done) => {
        clearTimeout(this.#silence);
        done(error);
      },
    });
    this.ended.promise.then(
      () => this.rows.push(null),
      (error: Error) => this.rows.destroy(error),
    );
  }

  handleCopyData({ chunk }: { chunk: Buffer }): void {
    this.#listen();
    // A copy: the parser uses its memory again.
    if (this.rows.push(Buffer.from(chunk))) return;
    this.connection?.stream.pause();
    clearTimeout(this.#silence);
  }

  #listen(): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.rows.destroy(new Error('the database fell silent')), SILENCE_MS);
  }
}

class CopyIn extends Copy {
  readonly asked = Promise.withResolvers<Connection>();

  constructor(sql: string) {
    super(sql);
    this.asked.promise.catch(() => undefined);
  }

  override handleError(error: Error): void {
    this.asked.reject(error);
    super.handleError(error);
  }

  handleCopyInResponse(connection: Connection): void {
    this.asked.resolve(connection);
  }
}

/** What `COPY … TO STDOUT` says, in pieces of its own choice: it waits while nobody reads. */
export async function* copyOut(client: Client, sql: string): AsyncGenerator<Buffer> {
  const copy = client.query(new CopyOut(sql));
  for await (const chunk of copy.rows) yield chunk;
}

/** Has `COPY … FROM STDIN` take these pieces. @throws pg's error */
export async function copyIn(client: Client, sql: string, pieces: AsyncIterable<Buffer>): Promise<void> {
  const copy = client.query(new CopyIn(sql));
  const { stream } = await copy.asked.promise;
  for await (const piece of pieces) {
    if (stream.write(message('d', piece))) continue;
    const signal = AbortSignal.timeout(SILENCE_MS);
    await Promise.race([once(stream, 'drain', { signal }), copy.ended.promise]);
  }
  stream.write(message('c', Buffer.alloc(0)));
  await copy.ended.promise;
}

function message(letter: 'd' | 'c', bytes: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(letter, 'latin1');
  head.writeUInt32BE(bytes.length + 4, 1);
  return Buffer.concat([head, bytes]);
}
