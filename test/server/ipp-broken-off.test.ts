/** Clients of IPP that go away in the middle of a document: the process goes on. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeAll, expect, test } from 'vitest';
import { encodeIpp } from '../../drivers/ipp/encode.ts';
import { integrationCreated } from '../../src/contract/admin.ts';
import { printerDetails } from '../../src/contract/printer-actions.ts';
import { PRINTER } from '../kit/service/harness.ts';
import { useService } from '../kit/service/use-service.ts';
import { ippRequest } from '../kit/wire/ipp-request.ts';

/** Bytes, more than are read without room. */
const LENGTH = 1024 * 1024;

const service = useService({ redis: false, config: { ipp: true } });
let [uri, key] = ['', ''];
beforeAll(async () => {
  await service.tenant('acme');
  await service.agent([{}]);
  const made = await service.admin('POST', '/tenants/acme/integrations', { name: 'Office' });
  key = integrationCreated.parse(made.body).printNodeKey ?? '';
  const offered = await service.admin('POST', `/printers/${PRINTER}/offer`, {});
  uri = printerDetails.parse(offered.body).ipp ?? '';
});

/** Sends so much of a document, and goes. */
async function brokenOff(bytes: number): Promise<void> {
  const { hostname, port, pathname } = new URL(uri.replace('ipp:', 'http:'));
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  await once(socket, 'connect');
  const head = [
    `POST ${pathname} HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    `Authorization: Basic ${Buffer.from(`maria:${key}`).toString('base64')}`,
    'Content-Type: application/ipp',
    `Content-Length: ${LENGTH}`,
  ];
  const body = Buffer.concat([encodeIpp(ippRequest('Print-Job', uri)), Buffer.alloc(LENGTH)]);
  socket.write(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body.subarray(0, bytes)]));
  if (bytes % 2 === 0) await new Promise((resolve) => setImmediate(resolve));
  socket.resetAndDestroy();
  await once(socket, 'close');
}

test('hundreds that go away at any moment break nothing', async () => {
  for (let round = 0; round < 30; round++)
    await Promise.all(Array.from({ length: 10 }, (_, at) => brokenOff(round * 40 + at * 3)));
  expect((await service.call('/healthz')).status).toBe(200);
  const { rows } = await service.pool.query('SELECT FROM platen.jobs');
  expect(rows).toEqual([]);
});
