/** Passkeys under attack, with an authenticator that does whatever it is told. The browser's own is in `test/web/people.long.test.ts`. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { CONSOLE_HEADER } from '../../src/contract/people.ts';
import { PASSWORD, SignedIn } from '../kit/service/signed-in.ts';
import { useService, useTenant } from '../kit/service/use-service.ts';

const many = { perClientAndAddress: 10_000, perAddress: 10_000, perClient: 10_000 };
const service = useService({ config: { tokenFailures: many } });
const acme = useTenant(service);

/** Passkeys are where the service has a name. */
const origin = () => service.url.replace('127.0.0.1', 'localhost');
const hash = (data: Buffer | string) => createHash('sha256').update(data).digest();

type Cbor = number | string | Buffer | Map<number | string, Cbor>;

/** RFC 8949, as far as authenticators use it. */
function cbor(value: Cbor): Buffer {
  const head = (major: number, length: number) => {
    if (length < 24) return Buffer.from([(major << 5) | length]);
    if (length < 256) return Buffer.from([(major << 5) | 24, length]);
    const bytes = Buffer.alloc(3, (major << 5) | 25);
    bytes.writeUInt16BE(length, 1);
    return bytes;
  };
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string')
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  return Buffer.concat([head(5, value.size), ...[...value].flat().map(cbor)]);
}

type Lie = {
  challenge?: unknown;
  origin?: string;
  type?: string;
  party?: string;
  /** User present and verified, and with `made` a credential (WebAuthn §6.1). */
  flags?: number;
  counter?: number;
  id?: Buffer;
  /** Said beside what is signed. */
  saidId?: Buffer;
  key?: KeyObject;
  handle?: string;
  attestation?: Buffer;
  statement?: Map<string, Cbor>;
  fmt?: string;
  coseKey?: Buffer;
  more?: object;
};

class Authenticator {
  readonly id = randomBytes(32);
  readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  counter = 0;

  #client(challenge: string, lie: Lie, type: string): Buffer {
    return Buffer.from(
      JSON.stringify({ type, challenge, origin: origin(), crossOrigin: false, ...lie.more, ...pick(lie) }),
    );
  }

  #data(lie: Lie, made = Buffer.alloc(0)): Buffer {
    this.counter += 1;
    const tail = Buffer.alloc(5, lie.flags ?? (made.length > 0 ? 0x45 : 0x05));
    tail.writeUInt32BE(lie.counter ?? this.counter, 1);
    return Buffer.concat([hash(lie.party ?? 'localhost'), tail, made]);
  }

  /** What a browser would send of a new passkey. */
  made(challenge: string, lie: Lie = {}) {
    const { x = '', y = '' } = this.keys.publicKey.export({ format: 'jwk' });
    const key = new Map<number, Cbor>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, 'base64url')],
      [-3, Buffer.from(y, 'base64url')],
    ]);
    const id = lie.id ?? this.id;
    const length = Buffer.alloc(2);
    length.writeUInt16BE(id.length);
    const data = this.#data(lie, Buffer.concat([Buffer.alloc(16), length, id, lie.coseKey ?? cbor(key)]));
    const object = new Map<string, Cbor>([
      ['fmt', lie.fmt ?? 'none'],
      ['attStmt', lie.statement ?? new Map()],
      ['authData', data],
    ]);
    return {
      ...named(lie.saidId ?? id),
      response: {
        clientDataJSON: this.#client(challenge, lie, 'webauthn.create').toString('base64url'),
        attestationObject: (lie.attestation ?? cbor(object)).toString('base64url'),
        transports: ['internal'],
      },
    };
  }

  /** What a browser would send to sign in. */
  signed(challenge: string, lie: Lie = {}) {
    const client = this.#client(challenge, lie, 'webauthn.get');
    const data = this.#data(lie);
    const signature = sign('SHA256', Buffer.concat([data, hash(client)]), lie.key ?? this.keys.privateKey);
    return {
      ...named(lie.id ?? this.id),
      response: {
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: signature.toString('base64url'),
        ...(lie.handle !== undefined && { userHandle: lie.handle }),
      },
    };
  }
}

const pick = ({ challenge, origin: at, type }: Lie) =>
  Object.fromEntries(
    Object.entries({ challenge, origin: at, type }).filter(([, value]) => value !== undefined),
  );
const named = (id: Buffer) => ({
  id: id.toString('base64url'),
  rawId: id.toString('base64url'),
  type: 'public-key',
});

const problem = z.object({ code: z.string().optional() });
async function post(
  path: string,
  body: unknown,
  cookie = '',
): Promise<{ status: number; body: unknown; code: string | undefined }> {
  const headers = {
    [CONSOLE_HEADER]: '1',
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/json',
    cookie,
  };
  const answer = await fetch(origin() + path, { method: 'POST', headers, body: JSON.stringify(body) });
  const parsed: unknown = await answer.json();
  return { status: answer.status, body: parsed, code: problem.parse(parsed).code };
}

const offered = z.object({ challenge: z.string() });
async function askToAdd(person: SignedIn): Promise<string> {
  const asked = await post('/app/session/passkeys/options', { current: PASSWORD }, person.cookie);
  return offered.parse(asked.body).challenge;
}
/** Without the password, whose hash takes a third of a second. */
async function challengeToAdd(person: SignedIn): Promise<string> {
  const challenge = randomBytes(32).toString('base64url');
  const sql = `INSERT INTO platen.passkey_challenges (challenge, person_id, expires_at) VALUES ($1, $2, now() + interval '5 minutes')`;
  await service.pool.query(sql, [challenge, person.id]);
  return challenge;
}
async function challengeToSignIn(): Promise<string> {
  return offered.parse((await post('/app/session/passkey/options', {})).body).challenge;
}
const add = (person: SignedIn, credential: object) =>
  post('/app/session/passkeys', { name: 'A key', credential }, person.cookie);
const signIn = (credential: object) => post('/app/session/passkey', { credential });

let ann: SignedIn;
let bob: SignedIn;
let annsKey: Authenticator;
let bobsKey: Authenticator;
beforeAll(async () => {
  [ann, bob] = [
    await SignedIn.as(service, acme.id, 'admin', 'ann'),
    await SignedIn.as(service, acme.id, 'viewer', 'bob'),
  ];
  [annsKey, bobsKey] = [new Authenticator(), new Authenticator()];
  expect((await add(ann, annsKey.made(await askToAdd(ann)))).status).toBe(201);
  expect((await add(bob, bobsKey.made(await askToAdd(bob)))).status).toBe(201);
});

test('an authenticator that is right signs in, so that what follows is refused for its own reason', async () => {
  expect((await signIn(annsKey.signed(await challengeToSignIn()))).body).toMatchObject({
    person: { login: 'ann' },
  });
  const handle = Buffer.from(bob.id).toString('base64url');
  expect((await signIn(bobsKey.signed(await challengeToSignIn(), { handle }))).body).toMatchObject({
    person: { login: 'bob' },
  });
});

describe('nobody signs in', () => {
  test.each<[string, () => Lie]>([
    ['at another origin', () => ({ origin: 'https://evil.example' })],
    ['at another port', () => ({ origin: 'http://localhost:1' })],
    ['at an origin that only begins so', () => ({ origin: `${origin()}.evil.example` })],
    ['at a list of origins', () => ({ more: { origin: [origin()] } })],
    ['for another service', () => ({ party: 'evil.example' })],
    ['with what makes a passkey', () => ({ type: 'webauthn.create' })],
    ['without the person', () => ({ flags: 0x04 })],
    ['without their finger', () => ({ flags: 0x01 })],
    ['with a challenge of its own', () => ({ challenge: randomBytes(32).toString('base64url') })],
    ['with no challenge', () => ({ challenge: '' })],
    ['with a challenge that is no text', () => ({ challenge: { toString: 1 } })],
    ['with a challenge of a NUL', () => ({ challenge: '\0\0' })],
    ['with another key', () => ({ key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey })],
    ['with somebody else’s key', () => ({ key: bobsKey.keys.privateKey })],
    ['with somebody else’s name for it', () => ({ id: bobsKey.id })],
    ['as somebody else', () => ({ handle: Buffer.from(bob.id).toString('base64url') })],
    ['with a passkey that nobody has', () => ({ id: randomBytes(32) })],
    ['with a count that goes back', () => ({ counter: 1 })],
    ['with a count of nothing', () => ({ counter: 0 })],
  ])('%s', async (_how, lie) => {
    const said = await signIn(annsKey.signed(await challengeToSignIn(), lie()));
    expect([said.status, said.code]).toEqual([403, 'passkey-refused']);
  });

  test('without a line in the audit, where a challenge of the service was answered with a person’s passkey', async () => {
    const wrong = async () => {
      const { rows } = await service.pool.query(
        `SELECT object, who_name AS name FROM platen.audit WHERE what = 'session.wrong-passkey' ORDER BY id`,
      );
      return rows;
    };
    const before = await wrong();
    const challenge = await challengeToSignIn();
    // A copy, which has counted less.
    await signIn(annsKey.signed(challenge, { counter: 1 }));
    const line = { object: ann.id, name: 'ann' };
    expect(await wrong()).toEqual([...before, line]);
    // Nothing was asked: strangers could write without end.
    await signIn(annsKey.signed(challenge, { counter: 1 }));
    await signIn(annsKey.signed(randomBytes(32).toString('base64url')));
    await signIn(annsKey.signed(await challengeToSignIn(), { id: randomBytes(32) }));
    expect(await wrong()).toEqual([...before, line]);
  });

  test('with what was sent before, nor twice at once', async () => {
    const sent = annsKey.signed(await challengeToSignIn());
    const answers = await Promise.all(Array.from({ length: 8 }, () => signIn(sent)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await signIn(sent)).code).toBe('passkey-refused');
    // The same count under two challenges: one of two copies.
    const { counter } = annsKey;
    const copies = [
      annsKey.signed(await challengeToSignIn(), { counter: counter + 1 }),
      annsKey.signed(await challengeToSignIn(), { counter: counter + 1 }),
    ];
    const both = await Promise.all(copies.map(signIn));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 403]);
  });

  test('with a challenge that was for adding a passkey, and none is added with one for signing in', async () => {
    expect((await signIn(annsKey.signed(await challengeToAdd(ann)))).code).toBe('passkey-refused');
    const other = new Authenticator();
    expect((await add(ann, other.made(await challengeToSignIn()))).code).toBe('passkey-refused');
    // Nor with somebody else's.
    expect((await add(ann, other.made(await challengeToAdd(bob)))).code).toBe('passkey-refused');
  });
});

describe('no passkey is added', () => {
  const coseOf = (pairs: [number, Cbor][]) => cbor(new Map(pairs));
  const statement = new Map<string, Cbor>([
    ['alg', -7],
    ['sig', Buffer.alloc(8)],
  ]);
  test.each<[string, () => Lie]>([
    ['that is somebody else’s', () => ({ id: annsKey.id })],
    ['of another service', () => ({ party: 'evil.example' })],
    ['at another origin', () => ({ origin: 'https://evil.example' })],
    ['without their finger', () => ({ flags: 0x41 })],
    ['with another name than it says', () => ({ saidId: randomBytes(32) })],
    ['with a name of 4,000 random bytes', () => ({ id: randomBytes(4_000), saidId: randomBytes(32) })],
    [
      'of an algorithm that is none',
      () => ({
        coseKey: coseOf([
          [1, 2],
          [3, 0],
        ]),
      }),
    ],
    ['of no key', () => ({ coseKey: Buffer.from([0xa0]) })],
    ['of a key without end', () => ({ coseKey: Buffer.from([0xbb, 0, 0, 0, 1, 0, 0, 0, 0]) })],
    ['with an attestation of levels', () => ({ attestation: Buffer.alloc(5_900, 0x81) })],
    [
      'with an attestation of 4,294,967,295 parts',
      () => ({ attestation: Buffer.from([0xba, 0xff, 0xff, 0xff, 0xff, 0x01, 0x01]) }),
    ],
    [
      'with an attestation of text without end',
      () => ({ attestation: Buffer.from([0x7b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]) }),
    ],
    [
      'that names its maker',
      () => ({
        fmt: 'packed',
        statement: new Map([...statement, ['x5c', Buffer.alloc(8)]]),
      }),
    ],
    [
      'with a statement of another form',
      () => ({
        fmt: 'packed',
        statement,
      }),
    ],
    [
      'as of a form of a maker',
      () => ({
        fmt: 'android-safetynet',
        statement: new Map<string, Cbor>([
          ['ver', '1'],
          ['response', Buffer.alloc(8)],
        ]),
      }),
    ],
  ])('%s', async (_how, lie) => {
    const said = await add(bob, new Authenticator().made(await challengeToAdd(bob), lie()));
    expect([said.status, said.code]).toEqual([403, 'passkey-refused']);
  });

  test('that is larger than any is', async () => {
    const { code, status } = await add(
      bob,
      new Authenticator().made(await challengeToAdd(bob), { id: randomBytes(60_000) }),
    );
    expect([status, code]).toEqual([413, 'body-too-large']);
  });

  test('twice with one challenge', async () => {
    const challenge = await challengeToAdd(bob);
    expect((await add(bob, new Authenticator().made(challenge))).status).toBe(201);
    expect((await add(bob, new Authenticator().made(challenge))).code).toBe('passkey-refused');
  });
});

test('asking for challenges leaves no more behind than one for each person', async () => {
  for (let turn = 0; turn < 3; turn += 1) await askToAdd(bob);
  const sql = 'SELECT count(*)::int AS count FROM platen.passkey_challenges WHERE person_id = $1';
  const { rows } = await service.pool.query<{ count: number }>(sql, [bob.id]);
  expect(rows[0]?.count).toBe(1);
});

test('none of it was an error of the service’s own', () => {
  expect(service.log).not.toContain('"level":50');
});
