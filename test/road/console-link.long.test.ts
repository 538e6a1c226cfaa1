/** The way from the command line into the console, and what the command line has to say of people. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { auditEntry, CONSOLE_HEADER, invitationCreated, sessionView } from '../../src/contract/people.ts';
import { PLATEN } from '../kit/programs/built.ts';
import { placeCluster } from '../kit/servers/made-cluster.ts';
import { PlatenUp, platen } from '../kit/service/platen.ts';
import { tokenIn } from '../kit/service/signed-in.ts';
import { useDirectory } from '../kit/service/use-directory.ts';

const directory = useDirectory();
let up: PlatenUp;
beforeAll(async () => {
  up = await PlatenUp.start({ dataDir: join(directory.path, 'data'), args: ['--virtual', '0', '--sign-in'] });
});
afterAll(() => up?.stop());

async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await platen([...args, '--data', up.dataDir]);
  expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
  return stdout;
}
async function post(path: string, body: unknown): Promise<{ status: number; cookie: string; body: unknown }> {
  const answer = await fetch(up.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', [CONSOLE_HEADER]: '1' },
    body: JSON.stringify(body),
  });
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  return { status: answer.status, cookie, body: await answer.json() };
}
const linkIn = (text: string) => /http\S+#sign-in=\S+/.exec(text)?.[0] ?? '';

test('the printed link signs the administrator in, once', async () => {
  const link = linkIn(up.output);
  expect(link.startsWith(`${up.url}/console/#sign-in=`)).toBe(true);
  const first = await post('/app/session/link', { token: tokenIn(link) });
  expect(sessionView.parse(first.body)).toMatchObject({ person: { login: 'admin', role: 'admin' } });
  expect((await post('/app/session/link', { token: tokenIn(link) })).status).toBe(410);
  const printers = await fetch(`${up.url}/app/printers`, { headers: { cookie: first.cookie } });
  expect(printers.status).toBe(200);
  const another = await post('/app/session/link', { token: tokenIn(linkIn(await run('console'))) });
  expect(another.status).toBe(200);
});

test('a terminal shows the link and the ready line, and no log', { timeout: 60_000 }, async () => {
  const own = join(directory.path, 'terminal');
  await placeCluster(own);
  // `script` gives it a terminal, and passes Ctrl+C on.
  const line = `${PLATEN} up --data ${own} --port 0 --samples --sign-in`;
  const { LOG_LEVEL: _, ...env } = process.env;
  const child = spawn('script', ['-qefc', line, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  let shown = '';
  for await (const part of child.stdout.setEncoding('utf8')) {
    shown += part;
    if (shown.includes('Ctrl+C ends it') && child.stdin.writable) child.stdin.end('\x03');
  }
  await ended;
  const lines = shown.split(/\r?\n/);
  expect(linkIn(shown)).toContain('/console/#sign-in=');
  expect(lines.filter((one) => one.startsWith('platen is ready at '))).toHaveLength(1);
  expect(lines.length, shown).toBeLessThan(25);
  expect(shown).not.toContain('INFO');
});

test('people are invited, given another role, and revoked', async () => {
  const text = await run('user', 'invite', 'ann@example.com', '--role', 'operator');
  const [url = ''] = /http\S+#invitation=\S+/.exec(text) ?? [];
  const again = invitationCreated.parse(JSON.parse(await run('user', 'invite', 'ann@example.com', '--json')));
  const accept = (link: string) =>
    post('/app/invitations/accept', { token: tokenIn(link), password: 'correct horse battery' });
  expect((await accept(url)).status).toBe(410);
  expect((await accept(again.url)).body).toMatchObject({ person: { role: 'operator' } });
  expect(await run('user', 'role', 'Ann@example.com', '--role', 'designer')).toContain('is designer');
  expect(await run('user', 'list')).toMatch(/ann@example\.com .* designer .* active/);
  expect(await run('user', 'revoke', 'ann@example.com')).toContain('is revoked');
  const nobody = await platen(['user', 'revoke', 'nobody', '--data', up.dataDir]);
  expect([nobody.code, nobody.stderr]).toEqual([1, expect.stringContaining('no person "nobody"')]);
});

test('the audit has it all, as a list and as lines of JSON', async () => {
  const lines = (await run('audit', '--export')).trim().split('\n');
  const entries = z.array(auditEntry).parse(lines.map((line) => JSON.parse(line)));
  expect(entries.map(({ what }) => what)).toEqual(
    expect.arrayContaining([
      'session.make-link',
      'session.sign-in-by-link',
      'person.invite',
      'person.set-role',
      'person.revoke',
    ]),
  );
  const table = await run('audit', '--limit', '3');
  expect(table).toContain('person.revoke');
  for (const line of table.split('\n')) expect(line.length, line).toBeLessThanOrEqual(100);
});
