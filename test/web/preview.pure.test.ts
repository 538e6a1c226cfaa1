/** Pictures of a gallery, requested from a service that is not always able to draw. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { drawInTurn } from '../../web/templates/preview.ts';

vi.mock('../../web/service/session.ts', () => ({ ofTenant: (path: string) => path }));

const DRAWN = { png: null, width: 1, height: 1, dpi: 203, problems: [], boxes: [] };
const answer = (status: number, body: object) => Response.json(body, { status });
const refusal = (status: number) => answer(status, { code: 'x', title: 'x' });

/** @param answers one for each request; null: none comes */
function served(...answers: (Response | null)[]) {
  vi.useFakeTimers();
  const fetched = vi.fn(async () => answers.shift() ?? Promise.reject(new TypeError('no network')));
  vi.stubGlobal('fetch', fetched);
  onTestFinished(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });
  return fetched;
}

test('is there after a while without network, and where others have had their turn', async () => {
  const fetched = served(null, refusal(429), refusal(503), answer(200, DRAWN));
  const drawn = drawInTurn({ templateId: 'a' }, new AbortController().signal);
  await vi.advanceTimersByTimeAsync(2_000 + 4_000 + 8_000);
  await expect(drawn).resolves.toMatchObject({ png: null, width: 1 });
  expect(fetched).toHaveBeenCalledTimes(4);
});

test('what is refused for good is requested once', async () => {
  const fetched = served(refusal(403));
  await expect(drawInTurn({ templateId: 'a' }, new AbortController().signal)).rejects.toMatchObject({
    status: 403,
  });
  expect(fetched).toHaveBeenCalledTimes(1);
});

test('whoever has left the page requests nothing more', async () => {
  const fetched = served(null, answer(200, DRAWN));
  const stop = new AbortController();
  const drawn = expect(drawInTurn({ templateId: 'a' }, stop.signal)).rejects.toThrow('aborted');
  await vi.advanceTimersByTimeAsync(1_000);
  stop.abort();
  await vi.advanceTimersByTimeAsync(10_000);
  await drawn;
  expect(fetched).toHaveBeenCalledTimes(1);
});
