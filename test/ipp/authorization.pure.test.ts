import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Authorization, parseChallenges } from '../../drivers/ipp/authorization.ts';
import { httpPeer, ippAnswer } from '../kit/wire/http-peer.ts';
import { JobClient } from '../kit/wire/job-client.ts';

const never = new AbortController().signal;
const safe = () => true;

/** RFC 7616 §3.9.1: the same request, answered in two ways. */
const REALM = 'realm="http-auth@example.org", qop="auth, auth-int"';
const NONCES =
  'nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"';
const MUFASA = { user: 'Mufasa', password: 'Circle of Life' };
const CLIENT_NONCE = 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ';
const SHA_256 = `Digest ${REALM}, algorithm=SHA-256, ${NONCES}`;
const MD5 = `Digest ${REALM}, algorithm=MD5, ${NONCES}`;

test.each([
  ['SHA-256', SHA_256, '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1'],
  ['MD5', MD5, '8ca523f5e9506fed4657c9700eebdbec'],
  [
    'SHA-256 before MD5',
    `${MD5}, ${SHA_256}`,
    '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1',
  ],
])('the example of RFC 7616 §3.9.1: %s', (_, challenge, response) => {
  const authorization = new Authorization(MUFASA, safe, () => CLIENT_NONCE);
  const request = { method: 'GET', path: '/dir/index.html' };
  expect(authorization.header(request)).toBeUndefined();
  expect(authorization.asked(challenge, undefined)).toBe(true);
  const header = authorization.header(request) ?? '';
  expect(header).toContain(`response="${response}"`);
  expect(header).toContain('nc=00000001');
  expect(authorization.header(request)).toContain('nc=00000002');
  // Answered, and refused: that was wrong. A nonce that has grown old is another matter.
  expect(authorization.asked(challenge, header)).toBe(false);
  expect(authorization.asked(`${challenge}, stale=true`, header)).toBe(true);
});

test('Basic only where it is safe, or allowed; Digest rather than Basic', () => {
  const basic = 'Basic realm="printer"';
  const nowhere = new Authorization(MUFASA, () => false);
  expect(() => nowhere.asked(basic, undefined)).toThrow(/asks for the password itself/);
  expect(nowhere.header({ method: 'POST', path: '/' })).toBeUndefined();
  expect(nowhere.asked(`${basic}, ${MD5}`, undefined)).toBe(true);
  expect(nowhere.header({ method: 'POST', path: '/' })).toMatch(/^Digest /);
  const allowed = new Authorization({ ...MUFASA, inClear: true }, () => false);
  expect(allowed.asked(basic, undefined)).toBe(true);
  expect(allowed.header({ method: 'POST', path: '/' })).toBe('Basic TXVmYXNhOkNpcmNsZSBvZiBMaWZl');
  expect(allowed.asked(basic, 'Basic TXVmYXNhOkNpcmNsZSBvZiBMaWZl')).toBe(false);
});

test('what nobody should use, or we cannot do, is not answered', () => {
  for (const header of [
    'Negotiate',
    'Digest realm="x", nonce="y"',
    'Digest realm="x", nonce="y", qop="auth-int"',
    'Digest realm="x", nonce="y", qop="auth", algorithm=MD5-sess',
    'Digest realm="x", qop="auth"',
    '',
  ]) {
    expect(new Authorization(MUFASA, safe).asked(header, undefined)).toBe(false);
  }
});

test('challenges, several in one header', () => {
  const header = 'Newauth realm="a, \\"b\\"", type=1,  title="Login to \\"apps\\"", Basic realm="simple"';
  expect(
    parseChallenges(header).map(({ scheme, parameters }) => [scheme, Object.fromEntries(parameters)]),
  ).toEqual([
    ['newauth', { realm: 'a, "b"', type: '1', title: 'Login to "apps"' }],
    ['basic', { realm: 'simple' }],
  ]);
});

test('whatever a header holds: no exception, no line of its own in what we send', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      'Digest ',
      'Basic ',
      'realm=',
      'nonce="',
      '"',
      ', ',
      'qop="auth"',
      'algorithm=MD5',
      '\\',
      '=',
    ),
    fc.string({ unit: 'binary', maxLength: 12 }),
  );
  const header = fc.oneof(
    fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
    fc
      .tuple(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }))
      .map(([realm, nonce]) => `Digest realm="${realm}", nonce="${nonce}", qop="auth"`),
    fc.constantFrom('a="'.repeat(3_000), '\\"'.repeat(4_000), 'a '.repeat(4_000)),
  );
  fc.assert(
    fc.property(header, fc.string({ unit: 'binary' }), (text, user) => {
      const authorization = new Authorization({ user, password: 'x' }, safe);
      authorization.asked(text, undefined);
      // What Node takes as a header's value.
      expect(authorization.header({ method: 'POST', path: '/' }) ?? '').toMatch(/^[\x20-\x7e\x80-\xff]*$/);
    }),
    { seed: 20261121, numRuns: Number(process.env['IPP_FUZZ'] ?? 3_000) },
  );
});

test('a header of one long word is gone through once', () => {
  // Looked at from each character on, one takes half a second, and all of them longer than a test may.
  const word = `${'a'.repeat(8_000)}(`;
  for (let count = 0; count < 2_000; count += 1) expect(parseChallenges(word)).toEqual([]);
});

/** A printer that wants a Digest, and whose nonces are good for three requests. */
async function digestPrinter() {
  let nonce = 0;
  let uses = 0;
  const seen: (string | undefined)[] = [];
  const md5 = (text: string) => createHash('md5').update(text).digest('hex');
  const answer = ippAnswer(() => ({
    groups: [{ tag: 'job', attributes: [{ name: 'job-id', values: [{ tag: 'integer', value: 42 }] }] }],
  }));
  const { uri } = await httpPeer((request, response) => {
    const { authorization } = request.headers;
    seen.push(authorization);
    const field = (name: string) => new RegExp(`\\b${name}="?([^",]*)`).exec(authorization ?? '')?.[1] ?? '';
    const path = request.url ?? '';
    const expected = md5(
      [md5('lab:ipp:hunter2'), `n${nonce}`, field('nc'), field('cnonce'), 'auth', md5(`POST:${path}`)].join(
        ':',
      ),
    );
    uses += 1;
    if (authorization !== undefined && field('response') === expected && field('uri') === path && uses <= 3) {
      return answer(request, response);
    }
    const stale = field('response') === expected ? ', stale=true' : '';
    nonce += 1;
    uses = 0;
    request.resume();
    response.writeHead(401, {
      'www-authenticate': `Digest realm="ipp", qop="auth", algorithm=MD5, nonce="n${nonce}"${stale}`,
    });
    response.end();
  });
  return { uri, seen };
}

test('a printer that asks for a Digest gets it, also for a document, and again when its nonce is old', async () => {
  const { uri, seen } = await digestPrinter();
  const client = new JobClient(uri, {
    authorization: new Authorization({ user: 'lab', password: 'hunter2' }, safe),
  });
  for (let round = 0; round < 5; round += 1) expect((await client.getJob(42, never)).jobId).toBe(42);
  expect((await client.printJob({ format: 'text/plain' }, Buffer.alloc(300_000), never)).jobId).toBe(42);
  client.close();
  expect(seen.filter((one) => one === undefined)).toHaveLength(1);
  expect(seen.join()).not.toContain(Buffer.from('lab:hunter2').toString('base64'));
});

test('a wrong password is an error after one attempt, which does not repeat it', async () => {
  const { uri, seen } = await digestPrinter();
  const client = new JobClient(uri, {
    authorization: new Authorization({ user: 'lab', password: 'wrong-password' }, safe),
  });
  await expect(client.getJob(42, never)).rejects.toThrow(/401/);
  client.close();
  expect(seen).toHaveLength(2);
});
