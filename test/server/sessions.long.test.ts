/** Signing in and out, and what keeps a session its person's own. */
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { CONSOLE_HEADER, invitationCreated, sessionView, signInLink } from '../../src/contract/people.ts';
import { hashPassword } from '../../src/server/people/password.ts';
import { People } from '../../src/server/people/people.ts';
import { Sessions } from '../../src/server/people/sessions.ts';
import { transaction } from '../../src/server/store/pool.ts';
import { type Answer, codeOf, ServiceHarness } from '../kit/service/harness.ts';
import { cookieOf, PASSWORD, SignedIn, tokenIn } from '../kit/service/signed-in.ts';
import { useService } from '../kit/service/use-service.ts';

const PAGE = { [CONSOLE_HEADER]: '1' };

const LIMITS = { records: 70, labels: 80 };
const service = useService({ config: { limits: LIMITS } });
beforeAll(async () => {
  await service.tenant('acme');
  await service.tenant('default');
});

const signIn = (login: string, password: string, headers: Record<string, string> = {}): Promise<Answer> =>
  service.call('/app/session', {
    body: { tenant: 'acme', login, password },
    headers: { ...PAGE, ...headers },
  });

describe('by invitation', () => {
  test('a link is looked at often and accepted once; a password signs in from then on', async () => {
    const invited = await service.admin('POST', '/tenants/acme/people', {
      login: ' Ann@Example.com',
      name: 'Ann',
      role: 'operator',
    });
    const { url, person } = invitationCreated.parse(invited.body);
    expect(person).toMatchObject({ login: 'ann@example.com', state: 'invited', deployment: false });
    const token = tokenIn(url);
    expect(url).toBe(`${service.url}/console/#invitation=${token}`);
    for (let look = 0; look < 2; look += 1) {
      const looked = await service.call('/app/invitations/look', { body: { token }, headers: PAGE });
      expect(looked.body).toMatchObject({ tenant: { id: 'acme' }, login: 'ann@example.com', name: 'Ann' });
    }
    const accept = () =>
      service.call('/app/invitations/accept', { body: { token, password: PASSWORD }, headers: PAGE });
    const both = await Promise.all([accept(), accept()]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 410]);
    const answer = await signIn('ANN@example.com', PASSWORD);
    const view = sessionView.parse(answer.body);
    expect(view).toMatchObject({ person: { name: 'Ann', role: 'operator', hasPassword: true } });
    expect(view.may).toContain('jobs:act');
    expect(view.limits).toEqual(LIMITS);
    expect(view.may).not.toContain('people');
    expect(answer.headers.get('set-cookie')).toMatch(
      /^platen-session=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(service.log).not.toContain(token);
    expect(service.log).not.toContain(cookieOf(answer).split('=')[1]);
    expect(service.log).not.toContain(PASSWORD);
  });

  test('logins that look alike are one person’s', async () => {
    const invite = (login: string) =>
      service.admin('POST', '/tenants/acme/people', { login, role: 'viewer' });
    const invited = invitationCreated.parse((await invite('ｗｉｄｅ＠example.com')).body);
    expect(invited.person.login).toBe('wide@example.com');
    for (const login of ['wide@example.com', 'WIDE@example.com', '𝐖ide@example.com'])
      expect(codeOf(await invite(login))).toBe('person-exists');
    expect(codeOf(await invite('ａｄｍｉｎ'))).toBe('person-exists');
    const token = tokenIn(invited.url);
    await service.call('/app/invitations/accept', { body: { token, password: PASSWORD }, headers: PAGE });
    expect((await signIn('ＷＩＤＥ@example.com', PASSWORD)).status).toBe(200);
  });

  test('a short password is refused and the invitation stays', async () => {
    const invited = await service.admin('POST', '/tenants/acme/people', { login: 'short' });
    const token = tokenIn(invitationCreated.parse(invited.body).url);
    const accept = (password: string) =>
      service.call('/app/invitations/accept', { body: { token, password }, headers: PAGE });
    expect(codeOf(await accept('123456789'))).toBe('payload-invalid');
    expect((await accept(PASSWORD)).status).toBe(200);
  });

  test('another invitation takes the place of the first, and of the password', async () => {
    const person = await SignedIn.as(service, 'acme', 'viewer', 'again');
    const first = await service.admin('POST', `/tenants/acme/people/${person.id}/invitation`);
    const second = await service.admin('POST', `/tenants/acme/people/${person.id}/invitation`);
    const accept = (answer: Answer, password: string) =>
      service.call('/app/invitations/accept', {
        body: { token: tokenIn(invitationCreated.parse(answer.body).url), password },
        headers: PAGE,
      });
    expect(codeOf(await accept(first, 'another password'))).toBe('link-spent');
    expect((await accept(second, 'another password')).status).toBe(200);
    expect((await person.call('/app/session')).status).toBe(401);
    expect((await signIn('again', PASSWORD)).status).toBe(401);
    expect((await signIn('again', 'another password')).status).toBe(200);
  });

  test('an expired link is nobody’s', async () => {
    const invited = await service.admin('POST', '/tenants/acme/people', { login: 'late' });
    const { url, person } = invitationCreated.parse(invited.body);
    const sql = `UPDATE platen.one_time_tokens SET expires_at = now() - interval '1 second' WHERE person_id = $1`;
    await service.pool.query(sql, [person.id]);
    const body = { token: tokenIn(url), password: PASSWORD };
    expect(codeOf(await service.call('/app/invitations/accept', { body, headers: PAGE }))).toBe('link-spent');
  });
});

describe('by a link', () => {
  test('the keeper of the installation is made with the first link, and each link works once', async () => {
    const { url } = signInLink.parse((await service.admin('POST', '/links', {})).body);
    const use = () => service.call('/app/session/link', { body: { token: tokenIn(url) }, headers: PAGE });
    const both = await Promise.all([use(), use()]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 410]);
    const keeper = await SignedIn.asKeeper(service);
    const view = sessionView.parse((await keeper.call('/app/session')).body);
    expect(view).toMatchObject({ person: { login: 'admin', role: 'admin', hasPassword: false } });
    expect(view.may).toContain('deployment');
    expect((await keeper.call('/app/tenants', { body: { id: 'made-by-keeper' } })).status).toBe(201);
  });

  test('nobody is invited under the keeper’s login, and no link is made for nobody', async () => {
    const invited = await service.admin('POST', '/tenants/default/people', {
      login: 'Admin',
      role: 'viewer',
    });
    expect(codeOf(invited)).toBe('person-exists');
    expect(codeOf(await service.admin('POST', '/links', { tenant: 'acme', login: 'nobody' }))).toBe(
      'person-not-found',
    );
  });
});

describe('a session', () => {
  test('ends with a sign-out, everywhere with all of them', async () => {
    const person = await SignedIn.as(service, 'acme', 'viewer', 'out');
    const second = cookieOf(await signIn('out', PASSWORD));
    const gone = await person.call('/app/session', { method: 'DELETE' });
    expect([gone.status, cookieOf(gone)]).toEqual([204, 'platen-session=']);
    expect(codeOf(await person.call('/app/session'))).toBe('session-ended');
    person.cookie = second;
    const third = cookieOf(await signIn('out', PASSWORD));
    expect((await person.call('/app/sessions', { method: 'DELETE' })).status).toBe(204);
    for (const cookie of [second, third]) {
      person.cookie = cookie;
      expect((await person.call('/app/session')).status).toBe(401);
    }
  });

  test('ends everywhere with the links by which another could begin, also one that is being used', async () => {
    const person = await SignedIn.as(service, 'acme', 'viewer', 'linked');
    const link = async () => {
      const made = await service.admin('POST', '/links', { tenant: 'acme', login: 'linked' });
      return tokenIn(signInLink.parse(made.body).url);
    };
    const come = (token: string) => service.call('/app/session/link', { body: { token }, headers: PAGE });
    const unused = await link();
    expect((await person.call('/app/sessions', { method: 'DELETE' })).status).toBe(204);
    expect((await come(unused)).status).toBe(410);

    // A new password, too.
    person.cookie = cookieOf(await signIn('linked', PASSWORD));
    const kept = await link();
    const body = { current: PASSWORD, password: 'another password' };
    const set = await person.call('/app/session/password', { method: 'PUT', body });
    expect((await come(kept)).status).toBe(410);

    person.cookie = cookieOf(set);
    const used = await link();
    const client = await service.pool.connect();
    try {
      await client.query(`BEGIN; SELECT FROM platen.people WHERE login = 'linked' FOR NO KEY UPDATE`);
      const waiting = async () => {
        const sql = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
        return (await service.pool.query(sql)).rows.length;
      };
      const out = person.call('/app/sessions', { method: 'DELETE' });
      await expect.poll(waiting).toBe(1);
      const late = come(used);
      await expect.poll(waiting).toBe(2);
      await client.query('COMMIT');
      expect((await out).status).toBe(204);
      expect((await late).status).toBe(410);
    } finally {
      client.release();
    }
    const { rows } = await service.pool.query(
      'SELECT FROM platen.sessions s JOIN platen.people p ON p.id = s.person_id WHERE p.login = $1',
      ['linked'],
    );
    expect(rows).toEqual([]);
  });

  test('is another after each sign-in: one that a stranger has set is nobody’s', async () => {
    const stranger = await SignedIn.as(service, 'acme', 'viewer', 'stranger');
    await SignedIn.as(service, 'acme', 'viewer', 'victim');
    const fixed = 'platen-session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
    const own = cookieOf(await signIn('victim', PASSWORD, { cookie: fixed }));
    expect(own).not.toBe(fixed);
    const real = stranger.cookie;
    await signIn('victim', PASSWORD, { cookie: real });
    expect((await stranger.call('/app/session')).status).toBe(401);
    stranger.cookie = fixed;
    expect((await stranger.call('/app/session')).status).toBe(401);
  });

  test('ends when it idles, and after its lifetime in any case', async () => {
    const person = await SignedIn.as(service, 'acme', 'viewer', 'idle');
    const set = (column: string, to: string) =>
      service.pool.query(`UPDATE platen.sessions SET ${column} = now() ${to} WHERE person_id = $1`, [
        person.id,
      ]);
    await set('seen_at', `- interval '11 hours'`);
    expect((await person.call('/app/session')).status).toBe(200);
    const { rows } = await service.pool.query(
      `SELECT seen_at > now() - interval '1 minute' AS seen FROM platen.sessions WHERE person_id = $1`,
      [person.id],
    );
    expect(rows).toEqual([{ seen: true }]);
    await set('seen_at', `- interval '13 hours'`);
    expect((await person.call('/app/session')).status).toBe(401);
    await set('seen_at', '');
    expect((await person.call('/app/session')).status).toBe(200);
    await set('expires_at', `- interval '1 second'`);
    expect((await person.call('/app/session')).status).toBe(401);
  });

  test('knows at once of another role, and ends with its person', async () => {
    const person = await SignedIn.as(service, 'acme', 'viewer', 'changing');
    const path = `/tenants/acme/people/${person.id}`;
    expect(codeOf(await person.call('/app/audit'))).toBe('permission-missing');
    expect((await service.admin('PUT', path, { role: 'admin' })).status).toBe(200);
    expect((await person.call('/app/audit')).status).toBe(200);
    expect((await service.admin('DELETE', path)).body).toMatchObject({ state: 'revoked' });
    expect((await person.call('/app/audit')).status).toBe(401);
    expect((await signIn('changing', PASSWORD)).status).toBe(401);
    const again = await service.admin('POST', '/tenants/acme/people', { login: 'changing' });
    expect([again.status, again.body]).toMatchObject([201, { person: { id: person.id, role: 'viewer' } }]);
  });

  test('gets a new password only with the old one, and the other sessions end', async () => {
    const person = await SignedIn.as(service, 'acme', 'viewer', 'password');
    const other = cookieOf(await signIn('password', PASSWORD));
    const set = (current: string | undefined) =>
      person.call('/app/session/password', { method: 'PUT', body: { current, password: 'a new password' } });
    expect(codeOf(await set('wrong'))).toBe('password-wrong');
    expect(codeOf(await set(undefined))).toBe('password-wrong');
    const done = await set(PASSWORD);
    expect(done.status).toBe(200);
    person.cookie = other;
    expect((await person.call('/app/session')).status).toBe(401);
    person.cookie = cookieOf(done);
    expect((await person.call('/app/session')).status).toBe(200);
  });
});

test('a password that is being compared while another takes its place lets nobody in', async () => {
  const person = await SignedIn.as(service, 'acme', 'viewer', 'raced');
  const sessions = new Sessions(service.pool);
  const people = new People(service.pool, sessions);
  const hash = await hashPassword('a new password');
  const counted = async () => {
    const { rows } = await service.pool.query('SELECT sum(points)::int AS sum FROM platen.token_failures');
    return z.object({ sum: z.int().nullable() }).parse(rows[0]).sum ?? 0;
  };
  const before = await counted();
  // Passwords are hashed one after the other: those of the requests come behind these.
  const busy = Promise.all(Array.from({ length: 8 }, () => hashPassword(PASSWORD)));
  const begun = signIn('raced', PASSWORD);
  const body = { current: PASSWORD, password: 'another password' };
  const set = person.call('/app/session/password', { method: 'PUT', body });
  await expect.poll(counted).toBe(before + 6);
  await transaction(service.pool, (db) => people.setPassword(db, person.id, hash));
  await busy;
  expect(codeOf(await begun)).toBe('sign-in-refused');
  expect(codeOf(await set)).toBe('password-wrong');
  expect((await people.byLogin('acme', 'raced'))?.password_hash).toBe(hash);
});

describe('strangers', () => {
  test('too many wrong passwords: the right one is not looked at either, for that address', async () => {
    await SignedIn.as(service, 'acme', 'viewer', 'guessed');
    const guesses = await Promise.all(
      Array.from({ length: 14 }, (_, index) => signIn('guessed', `wrong ${index}`)),
    );
    const codes = guesses.map(codeOf);
    expect(codes.filter((code) => code === 'sign-in-refused')).toHaveLength(10);
    expect(codes.filter((code) => code === 'sign-in-too-often')).toHaveLength(4);
    const right = await signIn('guessed', PASSWORD);
    expect([right.status, codeOf(right)]).toEqual([429, 'sign-in-too-often']);
    expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test.each<[string, Record<string, string>]>([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['a sister host', { 'sec-fetch-site': 'same-site' }],
    ['a link typed in', { 'sec-fetch-site': 'none' }],
    ['another origin', { origin: 'https://evil.example' }],
    ['no origin at all', { origin: 'null' }],
    ['another scheme at this host', { origin: 'ftp://{host}' }],
    ['what no browser writes', { origin: 'http://somebody@{host}' }],
    ['a path', { origin: 'http://{host}/console' }],
  ])('%s changes nothing with a person’s cookie', async (_name, given) => {
    const person = await SignedIn.asKeeper(service);
    const { host } = new URL(service.url);
    const headers = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, value.replace('{host}', host)]),
    );
    const answer = await person.call('/app/tenants', { body: { id: 'forged' }, headers });
    expect([answer.status, codeOf(answer)]).toEqual([403, 'origin-foreign']);
    const login = await service.call('/app/session/link', { body: {}, headers: { ...PAGE, ...headers } });
    expect(codeOf(login)).toBe('origin-foreign');
  });

  test('a body that is too large is told the limit of this address', async () => {
    const headers = { 'x-platen-console': '1' };
    const answer = await service.call('/app/session', { body: { login: 'x'.repeat(9_000) }, headers });
    expect(answer.body).toMatchObject({ status: 413, detail: expect.stringContaining('8192') });
  });

  test('a form changes nothing: it cannot set the header', async () => {
    const person = await SignedIn.asKeeper(service);
    const answer = await service.call('/app/tenants', {
      body: { id: 'forged' },
      headers: { cookie: person.cookie, origin: service.url },
    });
    expect(codeOf(answer)).toBe('origin-foreign');
    const read = await service.call('/app/tenants', { headers: { cookie: person.cookie } });
    expect(read.status).toBe(200);
    const embedded = { cookie: person.cookie, 'sec-fetch-site': 'cross-site' };
    expect(codeOf(await service.call('/app/tenants', { headers: embedded }))).toBe('origin-foreign');
  });

  test('what a caller sends comes back in no header', async () => {
    const evil = 'x\r\nset-cookie: evil=1';
    for (const body of [
      { tenant: 'acme', login: evil, password: evil },
      { tenant: evil, login: 'x', password: 'x' },
    ]) {
      const answer = await service.call('/app/session', { body, headers: PAGE });
      expect(answer.status).toBe(400);
      expect([...answer.headers].join()).not.toContain('evil');
    }
    const named = await service.call(`/app/tenants/${encodeURIComponent(evil)}`, { headers: PAGE });
    expect([named.status, named.headers.get('set-cookie')]).toEqual([401, null]);
  });

  test('a session’s cookie is no bearer token, and the admin token is no cookie', async () => {
    const person = await SignedIn.as(service, 'acme', 'admin', 'bearer');
    const token = person.cookie.split('=')[1];
    expect((await service.call('/app/tenants', { token })).status).toBe(401);
    const headers = { cookie: 'platen-session=admin-token-for-tests-0123456789' };
    expect((await service.call('/app/tenants', { headers })).status).toBe(401);
  });
});

test('behind https the cookie is __Host-, Secure, and the only one that counts', async () => {
  const secure = await ServiceHarness.start({ config: { publicUrl: 'https://labels.example' } });
  await secure.tenant('acme');
  await secure.admin('POST', '/tenants/acme/people', { login: 'ann' });
  const invited = await secure.admin('POST', '/tenants/acme/people', { login: 'bob' });
  const { url } = invitationCreated.parse(invited.body);
  expect(url).toMatch(/^https:\/\/labels\.example\/console\/#invitation=/);
  const answer = await secure.call('/app/invitations/accept', {
    body: { token: tokenIn(url), password: PASSWORD },
    headers: { ...PAGE, origin: 'https://labels.example' },
  });
  expect(answer.headers.get('set-cookie')).toMatch(
    /^__Host-platen-session=.*; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
  );
  const value = cookieOf(answer).split('=')[1];
  const get = (cookie: string) => secure.call('/app/session', { headers: { cookie } });
  expect((await get(`__Host-platen-session=${value}`)).status).toBe(200);
  expect((await get(`platen-session=${value}`)).status).toBe(401);
  await secure.stop();
});
