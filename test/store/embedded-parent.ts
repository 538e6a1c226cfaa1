/** A Platen reduced to its database, for tests that kill it: `node embedded-parent.ts DIR [rows]`. */
import { Client } from 'pg';
import { startEmbedded } from '../../src/server/store/embedded.ts';

const [dataDir = '', text = ''] = process.argv.slice(2);
try {
  const database = await startEmbedded({ dataDir });
  const client = new Client(database.poolConfig);
  await client.connect();
  await client.query('CREATE SCHEMA IF NOT EXISTS test; CREATE TABLE IF NOT EXISTS test.kept (text text)');
  if (text !== '') await client.query('INSERT INTO test.kept VALUES ($1)', [text]);
  const { rows } = await client.query<{ text: string }>('SELECT text FROM test.kept ORDER BY text');
  await client.end();
  // One line says that everything above is committed.
  process.stdout.write(`${JSON.stringify({ pid: database.pid, kept: rows.map((row) => row.text) })}\n`);
  process.stdin.resume();
  process.stdin.once('end', () => void database.stop());
} catch (error) {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  process.stdout.write(`${JSON.stringify({ error: code, message: String(error) })}\n`);
  process.exitCode = 1;
}
