/** The versions of a template: when and by whom each was saved. One can be compared with the newest, and restored. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { z } from 'zod';
import type { Preview } from '../../src/contract/label-picture.ts';
import { templateVersion, templateVersionView } from '../../src/contract/template-versions.ts';
import { Ask } from '../controls/dialog.tsx';
import { Problem } from '../controls/problem.tsx';
import { sets } from '../controls/sets.ts';
import { say } from '../controls/toast.tsx';
import { call, errorOf } from '../service/call.ts';
import { ofTheTenant, useLive } from '../service/live.ts';
import { may, ofTenant } from '../service/session.ts';
import { t, when } from '../texts/texts.ts';
import { type Difference, difference, dotsOf } from './difference.ts';
import { draw, pngAddress } from './preview.ts';

const replaced = templateVersionView.pick({ name: true });
const current = z.object({ version: z.string() });

type Props = { id: string; changed: string; onRestored: () => void };

/** @param changed when the template was last saved; if that changes, the versions are loaded again */
export function Versions({ id, changed, onRestored }: Props) {
  const { versions: words } = t.value.templates;
  const path = ofTenant(`/templates/${encodeURIComponent(id)}/versions`);
  const { live, reload } = useLive(z.array(templateVersionView), path, ofTheTenant);
  const compared = useSignal<number | null>(null);
  const asked = useSignal<number | null>(null);
  useEffect(reload, [changed]);
  const list = live.data ?? [];
  const newest = list[0]?.number;
  if (list.length < 2 || newest === undefined) return null;
  const restore = async (number: number) => {
    const version = await call(templateVersion, `${path}/${number}`);
    const here = ofTenant(`/templates/${encodeURIComponent(id)}`);
    const { version: stamp } = await call(current, here);
    await call(replaced, here, { method: 'PUT', body: { version: stamp, template: version.template } });
    say(words.restored(number));
    compared.value = null;
    onRestored();
    reload();
  };
  return (
    <section class="stack tight">
      <h2>{words.title}</h2>
      <ul class="stack">
        {list.map(({ number, who, at, name }) => (
          <li key={number} class="card stack tight">
            <div class="row spread">
              <div class="anywhere">
                <div class="row">
                  <strong>{words.number(number)}</strong>
                  {number === newest && <span class="badge good">{words.now}</span>}
                </div>
                <div class="small muted">
                  {when(at)}
                  {who !== null && ` · ${who}`} · {name}
                </div>
              </div>
              {number !== newest && (
                <div class="row">
                  {may('labels:read') && (
                    <button
                      type="button"
                      class={compared.value === number ? 'button chosen' : 'button'}
                      aria-expanded={compared.value === number}
                      aria-label={`${words.compare}: ${words.number(number)}`}
                      onClick={() => {
                        compared.value = compared.value === number ? null : number;
                      }}
                    >
                      {words.compare}
                    </button>
                  )}
                  {may('templates:edit') && (
                    <button
                      type="button"
                      class="button"
                      aria-label={`${words.restore}: ${words.number(number)}`}
                      onClick={sets(asked, number)}
                    >
                      {words.restore}
                    </button>
                  )}
                </div>
              )}
            </div>
            {compared.value === number && may('labels:read') && (
              <Compared path={path} older={number} newer={newest} />
            )}
          </li>
        ))}
      </ul>
      {asked.value !== null && (
        <Ask
          title={words.restoreTitle(asked.value)}
          action={words.restore}
          onClose={sets(asked, null)}
          onAction={() => restore(asked.value ?? 0)}
        >
          <p>{words.restoreSays}</p>
        </Ask>
      )}
    </section>
  );
}

type Both = { older: Preview; newer: Preview; difference: Difference };

function Compared({ path, older, newer }: { path: string; older: number; newer: number }) {
  const { versions: words } = t.value.templates;
  const both = useSignal<Both | undefined>(undefined);
  const problem = useSignal<Error | undefined>(undefined);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const drawn = async (number: number) => {
      const { template } = await call(templateVersion, `${path}/${number}`, { signal });
      return draw({ template }, signal);
    };
    const work = async () => {
      const pictures = { older: await drawn(older), newer: await drawn(newer) };
      const dots = { older: await dotsOf(pictures.older), newer: await dotsOf(pictures.newer) };
      if (!signal.aborted) both.value = { ...pictures, difference: difference(dots.older, dots.newer) };
    };
    work().catch((error: unknown) => {
      if (!signal.aborted) problem.value = errorOf(error);
    });
    return () => stop.abort();
  }, [path, older, newer]);
  if (problem.value !== undefined) return <Problem problem={problem.value} />;
  if (both.value === undefined) return <p class="muted">{t.value.general.loading}</p>;
  const { gone, added } = both.value.difference;
  return (
    <div class="stack tight">
      <div class="compared">
        <Picture of={both.value.older} words={words.number(older)} />
        <Picture of={both.value.newer} words={words.number(newer)} />
        <figure>
          <Canvas of={both.value.difference} label={words.difference} />
          <figcaption class="small">{words.difference}</figcaption>
        </figure>
      </div>
      <p class="small" role="status">
        {gone + added === 0 ? (
          words.same
        ) : (
          <>
            <span class="key gone" aria-hidden="true" /> {words.goneDots(gone)}{' '}
            <span class="key added" aria-hidden="true" /> {words.addedDots(added)}
          </>
        )}
      </p>
    </div>
  );
}

function Picture({ of, words }: { of: Preview; words: string }) {
  return (
    <figure>
      {of.png === null ? (
        <p class="muted small">{t.value.templates.noPicture}</p>
      ) : (
        <img class="paper" src={pngAddress(of.png)} alt={words} />
      )}
      <figcaption class="small">{words}</figcaption>
    </figure>
  );
}

function Canvas({ of, label }: { of: Difference; label: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    canvas.current?.getContext('2d')?.putImageData(of.picture, 0, 0);
  }, [of]);
  return (
    <canvas
      ref={canvas}
      class="paper"
      role="img"
      aria-label={label}
      width={of.picture.width}
      height={of.picture.height}
    />
  );
}
