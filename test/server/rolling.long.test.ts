/** Two instances behind haproxy are restarted one after the other, as docs/deployment.md says, and no request fails. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Programs } from '../kit/programs/programs.ts';
import { startHaproxy } from '../kit/programs/web-proxies.ts';
import { type OpenBackend, onServer } from '../kit/servers/backends.ts';
import { newKey, PRINTER, ServiceHarness } from '../kit/service/harness.ts';
import { TestTenant } from '../kit/service/use-service.ts';
import { freePort } from '../kit/wire/listening.ts';

const root = mkdtempSync(join(tmpdir(), 'platen-test-rolling-'));
const programs = new Programs();
let backend: OpenBackend;
let instances: ServiceHarness[];
let callers: string;

beforeAll(async () => {
  backend = await onServer().open({ migrated: true });
  const [port, one, two] = [await freePort(), await freePort(), await freePort()];
  callers = `http://127.0.0.1:${port}`;
  instances = await Promise.all(
    [one, two].map((own) =>
      ServiceHarness.start({ backend, config: { port: own, publicUrl: callers, drainSeconds: 5 } }),
    ),
  );
  await startHaproxy(programs, { root, port, one, two });
});
afterAll(async () => {
  await programs.end();
  for (const instance of instances) await instance.stop();
  await backend.close();
  rmSync(root, { recursive: true, force: true });
});

/** The server that haproxy asks next. */
async function asked(): Promise<string | null> {
  const answer = await fetch(`${callers}/healthz`);
  await answer.body?.cancel();
  return answer.ok ? answer.headers.get('x-server') : null;
}

test('every job is accepted at the first attempt, whichever instance is away', async () => {
  const [first] = instances;
  if (first === undefined) throw new Error('two instances');
  const acme = new TestTenant(first, 'acme');
  await acme.open({});
  const { token } = acme;
  const outcomes = new Map<string, number>();
  const over = new AbortController();
  const posting = Array.from({ length: 4 }, async () => {
    while (!over.signal.aborted) {
      const answer = await fetch(`${callers}/v2/jobs`, {
        method: 'POST',
        headers: {
          ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          ...{ 'x-tenant': 'acme', 'idempotency-key': newKey() },
        },
        body: JSON.stringify({ idT: acme.idT, printerId: PRINTER, data: [{ sku: 'A', name: 'B' }] }),
        signal: AbortSignal.timeout(60_000),
      });
      const outcome = answer.ok ? `${answer.status} ${answer.headers.get('x-server')}` : await answer.text();
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
  });
  for (const [at, instance] of [...instances, first].entries()) {
    await instance.stop();
    await instance.start();
    const name = at === 1 ? 'two' : 'one';
    await expect.poll(asked, { timeout: 60_000 }).toBe(name);
  }
  over.abort();
  await Promise.all(posting);
  expect([...outcomes.keys()].sort()).toEqual(['201 one', '201 two']);
});
