/** What the programs leave on the disk is their user's alone, whatever the umask was that they were started with. */
import { lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { AdminClient } from '../../src/cli/admin-client.ts';
import { SERVICE_FILE, serviceFile } from '../../src/cli/which-service.ts';
import { useHost } from '../kit/service/use-host.ts';

const host = useHost();
const { programs } = host;

/** What others can read, write or enter, below and with `top`. */
function open(top: string, path = top): string[] {
  const found = lstatSync(path);
  const own = !found.isSymbolicLink() && (found.mode & 0o077) !== 0 ? [relative(top, path) || '.'] : [];
  const below = found.isDirectory() ? readdirSync(path).flatMap((name) => open(top, join(path, name))) : [];
  return [...own, ...below];
}

test('"up", with its database, its journal, its keys and the labels that it printed', async () => {
  const dataDir = host.path('up');
  const up = programs.shell('umask 0; exec "$PLATEN" up --port 0 --data "$DATA"', { DATA: dataDir });
  await up.until(() => up.said().includes('platen is ready'));
  const admin = new AdminClient(
    serviceFile.parse(JSON.parse(await readFile(join(dataDir, SERVICE_FILE), 'utf8'))),
  );
  const text = { type: 'text', x: 4, y: 4, width: 40, height: 8, size: 5, text: 'plain' };
  const { id } = await admin.importTemplate('default', {
    name: 'plain',
    width: 50,
    height: 25,
    elements: [text],
  });
  const jobId = await admin.print('default', { idT: id, printer: 'virtual-1' });
  await up.until(async () => (await admin.job(jobId)).status === 'printed');
  expect(readdirSync(dataDir)).toEqual(
    expect.arrayContaining(['agent.db', 'platen.key', 'postgres', 'postgres.key', 'printed', 'service.json']),
  );
  expect(open(dataDir)).toEqual([]);
});

test('"server" and "agent"', async () => {
  const [server, agent] = [host.path('server'), host.path('agent')];
  const service = programs.shell('umask 0; exec "$PLATEN" server --port 0 --data "$DATA"', {
    ...host.env,
    DATA: server,
  });
  const line = 'umask 0; exec "$PLATEN" agent --data "$DATA" --printer socket://127.0.0.1:9';
  const other = programs.shell(line, { ...host.env, DATABASE_URL: '', DATA: agent });
  await service.until(() => service.said().includes('platen is ready'));
  await other.until(() => /^agent .* runs/m.test(other.said()));
  expect(open(server)).toEqual([]);
  expect(open(agent)).toEqual([]);
});

test('in a directory that others may enter, and that stays as its owner made it', async () => {
  const dataDir = host.path('open');
  mkdirSync(dataDir, { mode: 0o755 });
  const up = programs.shell('umask 022; exec "$PLATEN" up --port 0 --data "$DATA"', { DATA: dataDir });
  await up.until(() => up.said().includes('platen is ready'));
  expect(open(dataDir)).toEqual(['.']);
});
