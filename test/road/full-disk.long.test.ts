/**
 * The disk of `platen up` fills, with its database, journal and printed labels on it. What was accepted is printed once, and what was
 * not says so and may be sent again; it goes on by itself once there is room.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { MAY_MOUNT, SmallDisk } from '../kit/servers/small-disk.ts';
import { Integrator, PlatenUp } from '../kit/service/platen.ts';

/** MiB of the disk, and of what is left of it when jobs are sent. */
const SIZE = 300;
const LEFT = 4;
const REFUSED = 10;
/** Fields that no element shows, and that no compression makes small: a job is 130 KB. */
const MORE = ['m1', 'm2', 'm3', 'm4'];

test.runIf(MAY_MOUNT)(
  'a full disk refuses jobs, and loses and doubles none',
  async () => {
    await using stack = new AsyncDisposableStack();
    const disk = new SmallDisk(SIZE);
    stack.defer(() => disk.stop());
    const dataDir = join(disk.path, 'data');
    const up = await PlatenUp.start({ dataDir, args: ['--virtual', '1'], env: { LOG_LEVEL: 'warn' } });
    stack.defer(async () => void (await up.stop()));
    await up.printerOnline('virtual-1');
    const { id: idT } = await up.admin.importTemplate('default', {
      name: 'disk',
      width: 50,
      height: 25,
      fields: ['v', ...MORE].map((name) => ({ name })),
      elements: [{ type: 'text', x: 1, y: 1, text: '{{v}}', size: 4 }],
    });
    const integrator = await Integrator.make(up);
    const bodies: { key: string; body: object }[] = [];
    const send = async ({ key, body }: (typeof bodies)[number]) => {
      const answer = await integrator.request('/v2/jobs', body, { 'idempotency-key': key });
      return { status: answer.status, body: await answer.json() };
    };
    const accepted = new Set<string>();
    const accept = (body: unknown) => accepted.add(z.tuple([z.string()]).parse(body)[0]);
    const refused: typeof bodies = [];
    disk.fill(LEFT);
    for (let n = 0; n < 300 && refused.length < REFUSED; n += 1) {
      const more = MORE.map((name) => [name, randomBytes(16_000).toString('hex')]);
      const data = [{ v: String(n), ...Object.fromEntries(more) }];
      const job = { key: `full-disk-${n}`, body: { idT, printer: 'virtual-1', data } };
      const { status, body } = await send(job);
      if (status === 201) accept(body);
      else {
        expect({ status, body }).toMatchObject({
          status: 500,
          body: { code: 'enqueue-failed', retrySafe: true },
        });
        refused.push(job);
      }
    }
    expect(accepted.size).toBeGreaterThan(5);
    expect(refused).toHaveLength(REFUSED);
    disk.makeRoom();
    for (const job of refused) {
      await expect.poll(() => send(job), { timeout: 60_000, interval: 250 }).toMatchObject({ status: 201 });
      // Once more with the same key: the same job.
      accept((await send(job)).body);
    }
    for (const id of accepted) expect((await up.ended(id, 120_000)).status).toBe('printed');
    // One job for each key, one label for each job.
    expect(await up.pictures()).toHaveLength(accepted.size);
  },
  400_000,
);
