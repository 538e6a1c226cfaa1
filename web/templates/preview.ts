/** Pictures of a template with a record, which the service draws with a printer's dots. */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type Preview, type PreviewRequest, preview } from '../../src/contract/label-picture.ts';
import { mapFiles } from '../../src/contract/template-files.ts';
import { call, errorOf, NoAnswer, Refusal } from '../service/call.ts';
import { ofTenant } from '../service/session.ts';

/** ms without a keystroke before a picture is requested. */
const PAUSE = 120;
/** ms before the next attempt if the service did not answer or had no time. */
const AGAIN = 2_000;
/** ms. `drawInTurn` doubles its pause with each attempt, up to this. */
const MOST_PAUSE = 60_000;
/** `drawInTurn` has at most so many requests under way, because the service draws for others, too. */
const AT_ONCE = 3;

export type Drawn = { preview: Preview | undefined; problem: Error | undefined; busy: boolean };

/**
 * Only one request is under way at a time; a new one aborts it.
 * @param request null: nothing is drawn
 * @param version the version of what the request names by ID; a new version is drawn anew
 */
export function usePreview(request: Partial<PreviewRequest> | null, version = ''): Drawn {
  const state: Signal<Drawn> = useSignal<Drawn>({ preview: undefined, problem: undefined, busy: false });
  const asked = request === null ? null : JSON.stringify(request);
  useEffect(() => {
    if (asked === null) {
      state.value = { preview: undefined, problem: undefined, busy: false };
      return;
    }
    const stop = new AbortController();
    state.value = { ...state.value, busy: true };
    let timer: ReturnType<typeof setTimeout>;
    const ask = async () => {
      try {
        const drawn = await draw(request ?? {}, stop.signal);
        state.value = { preview: drawn, problem: undefined, busy: false };
      } catch (error) {
        if (stop.signal.aborted) return;
        const problem = errorOf(error);
        state.value = { preview: undefined, problem, busy: false };
        if (passes(problem)) timer = setTimeout(ask, AGAIN);
      }
    };
    timer = setTimeout(ask, PAUSE);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [asked, version]);
  return state.value;
}

/** Whether the same request might succeed later. */
function passes(problem: Error): boolean {
  return (
    problem instanceof NoAnswer ||
    (problem instanceof Refusal && (problem.status === 429 || problem.status >= 500))
  );
}

/** The names by which the service knows files that it was sent. It refuses a name that it has forgotten, or another tenant's. */
const names = new Map<string, string>();
/** More files than one template can have. */
const MOST_NAMES = 200;

/** Requests a picture. Of the template's files, those that the service knows are sent only by name. */
export async function draw(request: Partial<PreviewRequest>, signal?: AbortSignal): Promise<Preview> {
  const { template } = request;
  if (template === undefined) return await ask(request, signal);
  const short = mapFiles(template, (data) => names.get(data) ?? data);
  try {
    return await ask({ ...request, template: short }, signal);
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'file-unknown')) throw error;
    names.clear();
    return await ask(request, signal);
  }
}

async function ask(request: Partial<PreviewRequest>, signal: AbortSignal | undefined): Promise<Preview> {
  const drawn = await call(preview, ofTenant('/templates/preview'), { body: request, signal });
  if (names.size > MOST_NAMES) names.clear();
  mapFiles(request.template, (data, pointer) => {
    const name = drawn.files[pointer];
    if (name !== undefined) names.set(data, name);
    return data;
  });
  return drawn;
}

const waiting: (() => void)[] = [];
let underWay = 0;

/** Draws as `draw` does, but in a queue, because a gallery requests many pictures; tries again what might succeed later. */
export async function drawInTurn(request: Partial<PreviewRequest>, signal: AbortSignal): Promise<Preview> {
  for (let pause = AGAIN; ; pause = Math.min(2 * pause, MOST_PAUSE)) {
    try {
      return await drawOnce(request, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Error && passes(error))) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

async function drawOnce(request: Partial<PreviewRequest>, signal: AbortSignal): Promise<Preview> {
  if (underWay >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  underWay += 1;
  try {
    signal.throwIfAborted();
    return await draw(request, signal);
  } finally {
    underWay -= 1;
    waiting.shift()?.();
  }
}

/** The `data:` address of a picture in an answer. */
export function pngAddress(png: string): string {
  return `data:image/png;base64,${png}`;
}
