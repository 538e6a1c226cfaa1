/** The Host header: any valid name is taken, and anything else is refused. */
import { once } from 'node:events';
import { request as ask } from 'node:http';
import { expect, test } from 'vitest';
import { useService } from '../kit/service/use-service.ts';

const service = useService();

async function statusFor(host: string, path: string, method = 'GET'): Promise<number | undefined> {
  const { hostname, port } = new URL(service.url);
  const headers = { host, 'x-platen-console': '1' };
  const request = ask({ host: hostname, port, path, method, headers, setHost: false }).end();
  const [response] = await once(request, 'response');
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}

test.each([
  '',
  '[',
  '[::1',
  'a b',
  '%00',
  '<script>',
  'platen:99999',
  'evil.example/x?y#z',
  'somebody@evil.example',
])('a host that is none is refused, not stumbled over: %j', async (host) => {
  expect(await statusFor(host, '/app/sign-in')).toBe(400);
  expect(await statusFor(host, '/app/session/passkey/options', 'POST')).toBe(400);
  expect(service.log).not.toContain('"level":50');
});

test('any that is one is heard, and only this machine has passkeys without a public URL', async () => {
  for (const host of ['platen.example', 'platen.example:80', '127.0.0.1:8310', '[::1]:8310', 'localhost'])
    expect(await statusFor(host, '/app/sign-in'), host).toBe(200);
  expect(await statusFor('localhost:8310', '/app/session/passkey/options', 'POST')).toBe(200);
  expect(await statusFor('platen.example', '/app/session/passkey/options', 'POST')).toBe(409);
});
