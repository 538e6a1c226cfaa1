/** The Host header: any valid name is taken, and anything else is refused. */
import { once } from 'node:events';
import { request as ask } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
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

test.each(['Host: platen', 'host: PLATEN', 'Host:'])('a second Host is refused: %s', async (second) => {
  const { hostname, port } = new URL(service.url);
  for (const version of ['1.0', '1.1']) {
    const socket = connect(Number(port), hostname);
    const head = `GET /healthz HTTP/${version}\r\nHost: platen\r\nX: y\r\n${second}\r\nConnection: close\r\n\r\n`;
    socket.write(head);
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toContain('expected one header Host');
  }
});

test.each([
  ['1.1', 400],
  ['1.0', 200],
])('HTTP/%s without a Host: %i, and what is wrong is said as of any request', async (version, status) => {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  socket.write(`GET /healthz HTTP/${version}\r\nConnection: close\r\n\r\n`);
  const answer = await text(socket);
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  if (status === 400) {
    expect(answer).toContain('content-type: application/problem+json');
    expect(JSON.parse(answer.slice(answer.indexOf('{')))).toMatchObject({
      code: 'request-malformed',
      detail: 'expected the header Host',
    });
  }
});
