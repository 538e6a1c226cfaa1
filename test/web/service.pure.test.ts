/**
 * How the pages talk to the service: lost answers, refused streams, and who is signed in. The tests play the browser, whose
 * types come from web/tsconfig.json.
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

/** What the pages need of a browser. They are loaded only once this is there. */
const WINDOW = new EventTarget();
beforeEach(() => {
  const assign = vi.fn();
  vi.stubGlobal('location', { hash: '', assign });
  vi.stubGlobal('addEventListener', WINDOW.addEventListener.bind(WINDOW));
  vi.stubGlobal('sessionStorage', { setItem: () => {}, getItem: () => null, removeItem: () => {} });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** The service answers each request by its path. */
function answers(by: Readonly<Record<string, () => Response>>): { path: string; body: unknown }[] {
  const asked: { path: string; body: unknown }[] = [];
  vi.stubGlobal('fetch', async (path: string, { body }: RequestInit) => {
    asked.push({ path, body: typeof body === 'string' ? JSON.parse(body) : undefined });
    const answer = by[path];
    if (answer === undefined) throw new TypeError('no network');
    return answer();
  });
  return asked;
}

const refusal = (status: number, code: string) => () => Response.json({ code, title: code }, { status });
const VIEW = {
  person: { id: 'p', login: 'ann', name: 'Ann', role: 'viewer', hasPassword: true },
  tenant: { id: 'default', name: 'Default', mediaMustFit: false },
  may: [],
  expiresAt: '2026-11-22T10:00:00.000Z',
  limits: { records: 1_000, labels: 1_000 },
};
const signedInView = () => Response.json(VIEW);

test('an answer that is cut in its middle is none, and not that of another version', async () => {
  const { call } = await import('../../web/service/call.ts');
  const { sessionView } = await import('../../src/contract/people.ts');
  const cut = () =>
    new Response(
      new ReadableStream({
        pull(stream) {
          stream.error(new TypeError('terminated'));
        },
      }),
    );
  answers({ '/app/cut': cut, '/app/other': () => new Response('<html>') });
  await expect(call(sessionView, '/cut')).rejects.toMatchObject({ name: 'NoAnswer' });
  await expect(call(sessionView, '/other')).rejects.toMatchObject({ name: 'OtherVersion' });
});

test('a refused stream is opened again, ever later, and at once again after it has worked', async () => {
  const { followEvents, told } = await import('../../web/service/events.ts');
  const opened: Stream[] = [];
  class Stream extends EventTarget {
    static readonly CLOSED = 2;
    readyState = 1;
    constructor() {
      super();
      opened.push(this);
    }
    close() {}
    refuse() {
      this.readyState = Stream.CLOSED;
      this.dispatchEvent(new Event('error'));
    }
  }
  vi.stubGlobal('EventSource', Stream);
  vi.stubGlobal('navigator', { language: 'en' });
  vi.useFakeTimers();
  const stop = followEvents();
  const waits = [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000];
  for (const [at, wait] of waits.entries()) {
    opened.at(-1)?.refuse();
    vi.advanceTimersByTime(wait - 1);
    expect(opened).toHaveLength(at + 1);
    vi.advanceTimersByTime(1);
    expect(opened).toHaveLength(at + 2);
  }
  opened.at(-1)?.dispatchEvent(new Event('open'));
  expect(told.value).toBe(true);
  opened.at(-1)?.refuse();
  vi.advanceTimersByTime(2_000);
  expect(opened).toHaveLength(waits.length + 2);
  opened.at(-1)?.refuse();
  stop();
  vi.advanceTimersByTime(120_000);
  expect(opened).toHaveLength(waits.length + 2);
});

test("rows are checked in parts that the service's own limits allow", async () => {
  const { signedIn } = await import('../../web/service/session.ts');
  const { checkRows } = await import('../../web/print/row-check.ts');
  const { tooMany } = await import('../../web/print/request.ts');
  const limits = { records: 60, labels: 100 };
  signedIn({ ...VIEW, person: { ...VIEW.person, role: 'viewer' }, limits });
  const asked = answers({
    '/app/tenants/default/jobs/validate': () => Response.json({ code: 'x', title: 'x' }, { status: 500 }),
  });
  const rows = Array.from({ length: 70 }, () => ({ sku: '1' }));
  const options = { onProgress: () => {}, signal: new AbortController().signal };
  for (const [numberCopies, length] of [
    [1, 60],
    [3, 33],
    [200, 1],
  ] as const) {
    asked.length = 0;
    await expect(checkRows({ idT: 't', numberCopies }, rows, options)).rejects.toMatchObject({ status: 500 });
    expect(asked).toEqual([
      { path: expect.anything(), body: expect.objectContaining({ data: rows.slice(0, length) }) },
    ]);
  }
  const route = { idT: 't', dpi: 203, version: '1' };
  expect(tooMany(60, route)).toBeUndefined();
  expect(tooMany(61, route)).toMatchObject({ code: 'records-between', values: { most: 60 } });
  expect(tooMany(51, { ...route, numberCopies: 2 })).toMatchObject({
    code: 'labels-many',
    values: { labels: 102 },
  });
});

test('a sign-in link that got no answer is tried again with its token', async () => {
  const { enterAgain, session, sessionProblem, signInByLink } = await import('../../web/service/session.ts');
  answers({});
  await signInByLink('secret');
  expect(sessionProblem.value).toMatchObject({ name: 'NoAnswer' });
  const asked = answers({ '/app/session/link': signedInView });
  await enterAgain();
  expect(asked).toEqual([{ path: '/app/session/link', body: { token: 'secret' } }]);
  expect(session.value?.person.login).toBe('ann');
});

test('after a spent link and a sign-in nothing is said of the link any more; 500 says nothing of a link', async () => {
  const { isSpent, sessionProblem, signInByLink, signInByPassword } = await import(
    '../../web/service/session.ts'
  );
  answers({ '/app/session/link': refusal(500, 'internal') });
  await signInByLink('secret');
  expect(isSpent(sessionProblem.value)).toBe(false);
  answers({ '/app/session/link': refusal(410, 'link-spent'), '/app/session': signedInView });
  await signInByLink('secret');
  expect(isSpent(sessionProblem.value)).toBe(true);
  await signInByPassword('default', 'ann', 'password');
  expect(sessionProblem.value).toBeUndefined();
});

test('after a sign-out the provider asks who it is, until somebody comes back from it signed in', async () => {
  const { findSession, signOut } = await import('../../web/service/session.ts');
  const { signedOut, signInAtProvider } = await import('../../web/service/provider.ts');
  const begun = () => Response.json({ url: 'https://login.example.com/' });
  // Also if no answer comes, because the session may have ended all the same.
  answers({});
  await expect(signOut(false)).rejects.toMatchObject({ name: 'NoAnswer' });
  const asked = answers({ '/app/session/provider': begun, '/app/session': signedInView });
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const leaving = signInAtProvider();
    await vi.waitFor(() => expect(location.assign).toHaveBeenCalledTimes(attempt + 1));
    // The person goes back, and the browser shows the page as it was before.
    WINDOW.dispatchEvent(new Event('pageshow'));
    await leaving;
    expect(asked.at(-1)?.body).toEqual({ again: true });
  }
  await findSession();
  expect(signedOut.value).toBe('');
});
