/**
 * Webhooks while the service is killed and receivers answer 500, hang, and answer 410: each job that has ended is told at
 * least once wherever a webhook was enabled, always under one ID.
 */
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import type { JobView } from '../../src/contract/job.ts';
import { webhookReplayed, webhookSecret, webhookView } from '../../src/contract/webhook.ts';
import { onServer } from '../kit/servers/backends.ts';
import { PlatenUp, temporaryDirectory } from '../kit/service/platen.ts';
import { smallLabel } from '../kit/service/small-label.ts';
import { type Got, verified, WebhookReceiver } from '../kit/wire/webhook-receiver.ts';

const PATHS = ['/well', '/weak', '/hangs', '/gone'] as const;
/** ms: what a killed service had in hand is due again after a minute. */
const PATIENCE = 100_000;

test('each ended job arrives under one ID, whatever receivers answer and whenever the service is killed', async () => {
  await using directory = await temporaryDirectory();
  const { receiver, env } = await WebhookReceiver.forTest(directory.path);
  const backend = await onServer().open({ migrated: true });
  onTestFinished(() => backend.close());
  const start = () =>
    PlatenUp.start({
      dataDir: join(directory.path, 'data'),
      args: ['--virtual', '1', '--virtual-speed', '20'],
      env: {
        DATABASE_URL: backend.databaseUrl ?? '',
        ...env,
      },
    });
  let up = await start();
  onTestFinished(async () => void (await up.stop()));
  await up.printerOnline('virtual-1');
  const { id: idT } = await up.admin.importTemplate('default', smallLabel('told', ['number'], []));
  const hooks = new Map<string, z.infer<typeof webhookSecret>>();
  for (const path of PATHS) {
    const body = {
      url: receiver.base + path,
      events: ['job.printed', 'job.failed', 'job.held', 'job.canceled'],
    };
    hooks.set(path, await up.admin.webhooks(webhookSecret, 'POST', 'default', '', body));
  }
  const jobs: string[] = [];
  const print = async (count: number) => {
    for (let n = 0; n < count; n++) {
      const data = [{ number: String(jobs.length) }];
      jobs.push(await up.admin.print('default', { idT, printer: 'virtual-1', data }));
    }
  };
  const disabled = async () => {
    const all = await up.admin.webhooks(z.array(webhookView), 'GET', 'default');
    return all.filter((one) => one.disabled !== null).map(({ url }) => new URL(url).pathname);
  };
  const replay = (path: string) =>
    up.admin.webhooks(webhookReplayed, 'POST', 'default', `/${hooks.get(path)?.id}/replay`, {});
  const heard = (path: string, status: number) =>
    receiver.got.filter((one) => one.path === path && one.status === status);
  const told = (path: string) => new Set(heard(path, 204).map((one) => jobOf(one)));
  const jobOf = (one: Got) => {
    const { data } = verified(one, hooks.get(one.path)?.secret ?? '');
    return 'tenant' in data ? data.id : '';
  };

  receiver.answers = { '/weak': 500, '/hangs': null, '/gone': 410 };
  await print(4);
  await receiver.arrived('/hangs', 1);
  await receiver.arrived('/weak', 1);
  await vi.waitFor(async () => expect(await disabled()).toEqual(['/gone']), { timeout: 20_000 });
  const before = jobs.length;
  // A request is in hand at the receiver that hangs, and one is on its way elsewhere.
  await up.kill();

  receiver.answers = { '/weak': 500, '/gone': 410 };
  up = await start();
  await up.printerOnline('virtual-1');
  await print(3);
  const [last = ''] = jobs.slice(-1);
  await up.admin.cancelJob(last);
  const seen = receiver.got.length;
  await vi.waitFor(() => expect(receiver.got.length).toBeGreaterThan(seen), {
    timeout: 30_000,
    interval: 10,
  });
  await up.kill();

  receiver.answers = {};
  up = await start();
  const ends = new Map<string, JobView>();
  for (const job of jobs) ends.set(job, await up.ended(job, 60_000));
  await replay('/gone');
  await print(1);
  const [after = ''] = jobs.slice(-1);
  ends.set(after, await up.ended(after, 60_000));
  for (const path of ['/weak', '/hangs']) await replay(path);
  await vi.waitFor(
    () => {
      for (const path of ['/well', '/weak', '/hangs'])
        expect([path, ...told(path)]).toEqual(expect.arrayContaining(jobs));
      // Of what ended while it was disabled there is no message.
      expect(told('/gone')).toContain(after);
    },
    { timeout: PATIENCE, interval: 200 },
  );

  expect(heard('/weak', 500).length).toBeGreaterThan(0);
  expect(before).toBe(4);
  for (const [path, { secret }] of hooks) {
    const messages = receiver.got
      .filter((one) => one.path === path)
      .map((one) => ({ one, ...verified(one, secret) }));
    const ids = new Map<string, Set<unknown>>();
    for (const { one, type, data } of messages) {
      const job = 'tenant' in data ? data : undefined;
      expect(type).toBe(`job.${job?.status}`);
      const what = `${job?.id} ${type}`;
      ids.set(what, (ids.get(what) ?? new Set()).add(one.headers['webhook-id']));
      if (job !== undefined) expect(ends.get(job.id)?.status, what).toBe(job.status);
    }
    // One ID for each event, and for no other.
    const all = [...ids.values()];
    expect(
      all.map((some) => some.size),
      path,
    ).toEqual(all.map(() => 1));
    expect(new Set(all.flatMap((some) => [...some])).size, path).toBe(all.length);
  }
}, 300_000);
