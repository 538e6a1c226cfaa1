/**
 * A printer runs out of paper, and people hear of it: by mail from a real SMTP server (Debian's aiosmtpd) and in a chat, once,
 * though the service is killed meanwhile.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { createLogger } from '../../src/log.ts';
import { createPool } from '../../src/server/store/pool.ts';
import { Programs } from '../kit/programs/programs.ts';
import { onServer } from '../kit/servers/backends.ts';
import { PlatenUp, platen, temporaryDirectory } from '../kit/service/platen.ts';
import { freePort, takesConnections } from '../kit/wire/listening.ts';
import { WebhookReceiver } from '../kit/wire/webhook-receiver.ts';

test('media-empty is one mail and one chat message, and one more of each when there is paper', async () => {
  await using directory = await temporaryDirectory();
  const programs = new Programs();
  onTestFinished(() => programs.end());
  const { receiver, env } = await WebhookReceiver.forTest(directory.path);
  const backend = await onServer().open({ migrated: true });
  onTestFinished(() => backend.close());
  const [mailbox, smtp] = [join(directory.path, 'mail'), await freePort()];
  const dataDir = join(directory.path, 'data');
  const start = () =>
    PlatenUp.start({
      dataDir,
      args: ['--virtual', '1'],
      env: {
        DATABASE_URL: backend.databaseUrl ?? '',
        ...env,
        PLATEN_SMTP_URL: `smtp://127.0.0.1:${smtp}`,
        PLATEN_MAIL_FROM: 'platen@example.com',
      },
    });
  const done = async (...args: string[]) => {
    const { code, stdout, stderr } = await platen([...args, '--data', dataDir]);
    expect([code, stderr]).toEqual([0, '']);
    return stdout;
  };
  let up = await start();
  onTestFinished(async () => void (await up.stop()));
  await up.printerOnline('virtual-1');
  const made = z.object({ id: z.string() });
  const mail = made.parse(
    JSON.parse(await done('alert', 'create', '--to', 'hall@example.com', '--minutes', '1', '--json')),
  );
  await done('alert', 'create', '--to', `${receiver.base}/chat`, '--minutes', '1', '--json');
  expect(await done('alert', 'list')).toContain('mail hall@example.com');

  await done('virtual', 'fault', 'virtual-1', 'media-empty');
  const pool = createPool({ database: backend.database, max: 2, logger: createLogger({ level: 'silent' }) });
  onTestFinished(() => pool.end());
  const earlier = () => pool.query("UPDATE platen.printer_attention SET since = since - interval '1 minute'");
  await expect.poll(async () => (await earlier()).rowCount, { timeout: 60_000 }).toBe(1);
  // The server is not there yet: the mail waits.
  const log = z.array(z.object({ arrivedAt: z.string().nullable(), attempts: z.array(z.unknown()) }));
  const deliveries = async () => log.parse(JSON.parse(await done('alert', 'deliveries', mail.id, '--json')));
  await expect
    .poll(async () => (await deliveries()).map(({ attempts }) => attempts.length > 0), { timeout: 60_000 })
    .toEqual([true]);
  await receiver.arrived('/chat', 1);
  await up.kill();

  const words = ['-n', '-l', `127.0.0.1:${smtp}`, '-c', 'aiosmtpd.handlers.Mailbox', mailbox];
  await programs.start('aiosmtpd', words).until(() => takesConnections(smtp));
  up = await start();
  await up.printerOnline('virtual-1');
  await done('alert', 'replay', mail.id);
  const mails = async () => {
    const names = await readdir(join(mailbox, 'new')).catch(() => []);
    return await Promise.all(names.map((name) => readFile(join(mailbox, 'new', name), 'utf8')));
  };
  await expect.poll(async () => (await mails()).length, { timeout: 60_000 }).toBeGreaterThan(0);
  expect((await mails())[0]).toMatch(/^Subject: Platen: printer virtual-1 needs somebody \(media empty\)/m);
  await done('virtual', 'fault', 'virtual-1', 'clear');
  const over = /^Subject: Platen: printer virtual-1 does not need somebody any more/m;
  await expect
    .poll(async () => (await mails()).filter((one) => over.test(one)).length, { timeout: 60_000 })
    .toBe(1);
  await receiver.arrived('/chat', 2);
  // Under one Message-ID each, however often they were sent.
  const ids = new Set((await mails()).map((one) => /^Message-ID: (\S+)/im.exec(one)?.[1]));
  expect(ids.size).toBe(2);
  expect(new Set(receiver.got.map(({ body }) => body)).size).toBe(2);
}, 300_000);
