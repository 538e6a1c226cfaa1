/** What a command makes of the answers of a service, or of whoever listens where it should be. */
import { createServer as createSecureServer } from 'node:https';
import { expect, test } from 'vitest';
import { AdminClient } from '../../src/cli/admin-client.ts';
import { followJob } from '../../src/cli/job-progress.ts';
import { askService } from '../../src/cli/service-request.ts';
import { selfSigned } from '../kit/wire/certificate.ts';
import { type Answer, httpPeer } from '../kit/wire/http-peer.ts';
import { listeningForTest } from '../kit/wire/listening.ts';

const adminToken = 'admin-token-for-tests-0123456789';

async function client(answer: Answer): Promise<{ admin: AdminClient; url: string }> {
  const { uri } = await httpPeer(answer);
  const url = `http://${new URL(uri).host}`;
  return { admin: new AdminClient({ url: `${url}/`, adminToken }), url };
}

test('a question has its token, and its body with its length', async () => {
  const asked: unknown[] = [];
  const { admin } = await client(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const { method, url, headers } = request;
    asked.push([method, url, headers.authorization, headers['content-type'], headers['content-length']]);
    asked.push(Buffer.concat(parts).toString());
    response
      .writeHead(409)
      .end(JSON.stringify({ code: 'tenant-exists', title: 'There is one', detail: 'é' }));
  });
  await expect(admin.createTenant({ id: 'ä' })).rejects.toMatchObject({
    status: 409,
    code: 'tenant-exists',
    message: 'é [tenant-exists]',
  });
  const body = JSON.stringify({ id: 'ä' });
  const length = String(Buffer.byteLength(body));
  expect(asked).toEqual([['POST', '/app/tenants', `Bearer ${adminToken}`, 'application/json', length], body]);
});

test('what an accepted job is warned of is told in words, and a code of a later service as it is', async () => {
  const headers: Record<string, string>[] = [
    { 'platen-warnings': 'field-missing=3, off-label=1, out-of-ink=2' },
    {},
  ];
  const { admin } = await client((_, response) => {
    response.writeHead(201, headers.shift()).end('["0198c5c1"]');
  });
  const request = { idT: 'x', printer: 'x', data: [{}] };
  expect(await admin.enqueue('default', request)).toEqual({
    id: '0198c5c1',
    again: false,
    warnings: [
      'fields missing in the records: 3 [field-missing]',
      'parts of the template beyond the media: 1 [off-label]',
      'out-of-ink: 2',
    ],
  });
  expect(await admin.enqueue('default', request)).toMatchObject({ warnings: [] });
});

test('the token goes nowhere else than where the person said', async () => {
  const elsewhere: (string | undefined)[] = [];
  const { url: other } = await client((request, response) => {
    elsewhere.push(request.headers.authorization);
    response.end('[]');
  });
  const { admin, url } = await client((_, response) => {
    response.writeHead(307, { location: `${other}/app/printers` }).end();
  });
  await expect(admin.printers()).rejects.toThrow(
    `${url} is not the service's address: it leads to ${other}/app/printers`,
  );
  expect(elsewhere).toEqual([]);
});

test('one that breaks off, or is not there, is named', async () => {
  const { admin, url } = await client((_, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('[', () => response.destroy());
  });
  await expect(admin.printers()).rejects.toThrow(`The service at ${url} does not answer: aborted`);
  const nobody = new AdminClient({ url: 'http://127.0.0.1:1', adminToken });
  await expect(nobody.printers()).rejects.toThrow(
    'The service at http://127.0.0.1:1 does not answer: connect ECONNREFUSED 127.0.0.1:1',
  );
});

test('whoever asks can give up, also in the middle of an answer', async () => {
  const end = new AbortController();
  const reason = new Error('the person has gone');
  const { admin } = await client(
    (_, response) => void response.writeHead(200).write('{', () => end.abort(reason)),
  );
  await expect(admin.job('0198c5c1-6b1e', end.signal)).rejects.toBe(reason);
});

test('who follows a job waits for a service that is restarted, and not for one that refuses', async () => {
  const at = new Date().toISOString();
  const named = { id: 'x', name: 'x' };
  const job = {
    ...{ id: 'x', tenant: 'default', status: 'printed', labels: { total: 1, sent: 1, printed: 1 } },
    ...{ reasons: [], error: null, uncertain: null, printer: named, template: named, format: 'x' },
    ...{ orientation: 'portrait', copies: 1, records: 1, createdAt: at, updatedAt: at },
  };
  const refused =
    (status: number, code: string): Answer =>
    (_, response) =>
      void response.writeHead(status).end(JSON.stringify({ code, title: code }));
  const answers: Answer[] = [
    (_, response) => void response.destroy(),
    refused(503, 'unavailable'),
    (_, response) => void response.end(JSON.stringify(job)),
    refused(404, 'job-unknown'),
  ];
  const { admin } = await client((request, response) => answers.shift()?.(request, response));
  const away: string[] = [];
  const follow = () =>
    followJob(
      admin,
      'x',
      () => {},
      AbortSignal.timeout(10_000),
      (reason) => away.push(reason),
    );
  expect(await follow()).toMatchObject({ status: 'printed' });
  expect(away).toEqual([expect.stringContaining('does not answer')]);
  await expect(follow()).rejects.toMatchObject({ code: 'job-unknown' });
});

test('an answer without an end is not kept', async () => {
  let sent = 0;
  const part = Buffer.alloc(1_048_576, ' ');
  const { admin } = await client((_, response) => {
    const more = () => void response.write(part, (error) => error ?? (sent++ < 200 && more()));
    more();
  });
  await expect(admin.printers()).rejects.toThrow('its answer is longer than 67108864 bytes');
  expect(sent).toBeLessThan(150);
});

test('by https it speaks only with whom it can verify', async () => {
  const server = createSecureServer(selfSigned(), (_, response) => response.end('[]'));
  const port = await listeningForTest(server);
  const url = `https://127.0.0.1:${port}`;
  const signal = AbortSignal.timeout(10_000);
  await expect(askService(url, { method: 'GET', token: adminToken, signal })).rejects.toThrow(
    /self-signed certificate/,
  );
});
