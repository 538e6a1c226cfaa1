/** Pictures of templates are requested from a service that cannot always draw, and that keeps files only for a while. */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { draw, drawInTurn } from '../../web/templates/preview.ts';

vi.mock('../../web/service/session.ts', () => ({ ofTenant: (path: string) => path }));

const DRAWN = { png: null, width: 1, height: 1, dpi: 203, problems: [], boxes: [], files: {} };
const answer = (status: number, body: object) => Response.json(body, { status });
const refusal = (status: number) => answer(status, { code: 'x', title: 'x' });

/** @param answers one for each request; null: no answer comes */
function served(...answers: (Response | null)[]) {
  vi.useFakeTimers();
  const fetched = vi.fn(
    async (..._: Parameters<typeof fetch>) => answers.shift() ?? Promise.reject(new TypeError('no network')),
  );
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

describe('a template with a large file', () => {
  const label = { name: 'A', width: 1, height: 1, images: [], elements: [] };
  const sent = (fetched: ReturnType<typeof served>, at: number) => {
    const [, init] = z.tuple([z.string(), z.object({ body: z.string() })]).parse(fetched.mock.calls[at]);
    return JSON.parse(init.body).template;
  };

  test('sends it once, and then its name; again where the service has it no more', async () => {
    const template = { ...label, fonts: [{ name: 'own', data: 'A'.repeat(5_000) }] };
    const name = `sha256:${'0'.repeat(64)}`;
    const named = { ...DRAWN, files: { '/fonts/0/data': name } };
    const fetched = served(
      answer(200, named),
      answer(200, DRAWN),
      answer(409, { code: 'file-unknown', title: 'x' }),
      answer(200, named),
      answer(200, DRAWN),
    );
    for (let at = 0; at < 4; at += 1) await draw({ template });
    const byName = { ...template, fonts: [{ name: 'own', data: name }] };
    expect([0, 1, 2, 3, 4].map((at) => sent(fetched, at))).toEqual([
      template,
      byName,
      byName,
      template,
      byName,
    ]);
  });

  test('a service that never knows the file is not asked for ever', async () => {
    const template = { ...label, fonts: [{ name: 'own', data: 'B'.repeat(5_000) }] };
    const unknown = { code: 'file-unknown', title: 'x' };
    const fetched = served(answer(409, unknown), answer(409, unknown));
    await expect(draw({ template })).rejects.toMatchObject({ code: 'file-unknown' });
    expect(fetched).toHaveBeenCalledTimes(2);
  });
});
