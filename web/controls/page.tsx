/** The frame of a page: a heading, which takes the focus when the page opens, and the service's data. */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { to } from '../address/place.ts';
import { Refusal } from '../service/call.ts';
import type { Live } from '../service/live.ts';
import { t } from '../texts/texts.ts';
import { Icon, type IconName } from './icon.tsx';
import { Problem } from './problem.tsx';

type PageProps = {
  title: string;
  crumb?: { words: string; href: string };
  beside?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
};

/** Sets the title of the browser's tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · ${t.value.general.product}`;
  }, [title]);
}

export function Page({ title, crumb, beside, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useTitle(title);
  // The focus moves before the page is painted; otherwise a key that is pressed at once would go to the previous page.
  useLayoutEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <>
      <header class="page-head">
        <div>
          {crumb !== undefined && (
            <a class="crumb" href={crumb.href}>
              {crumb.words}
            </a>
          )}
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
        </div>
        {beside}
        {actions !== undefined && <div class="row actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

type ShownProps<T> = { of: Live<T>; onRetry: () => void; children: (data: T) => ComponentChildren };

/** Shows the data, or that it is loading, or why there is none. Data that may be out of date is shown pale. */
export function Shown<T>({ of: { data, problem, stale }, onRetry, children }: ShownProps<T>) {
  if (data !== undefined) {
    // If the service does not answer, the shell says so once for the whole page.
    const refused = problem !== undefined && problem.name !== 'NoAnswer';
    return (
      <div class={stale || problem !== undefined ? 'stack wide old' : 'stack wide'}>
        {refused && <Problem problem={problem} onRetry={onRetry} />}
        {children(data)}
      </div>
    );
  }
  if (problem instanceof Refusal && problem.status === 404) return <NotFound />;
  if (problem !== undefined) return <Problem problem={problem} onRetry={onRetry} />;
  return (
    <p class="waiting" role="status">
      {t.value.general.loading}
    </p>
  );
}

export function NotFound() {
  const { problem } = t.value;
  return (
    <Empty icon="jobs" title={problem.notFound} hint={problem.notFoundHint}>
      <a class="button" href={to([])}>
        {problem.toStart}
      </a>
    </Empty>
  );
}

type EmptyProps = { icon: IconName; title: string; hint?: string; children?: ComponentChildren };

export function Empty({ icon, title, hint, children }: EmptyProps) {
  return (
    <div class="card empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {hint !== undefined && <p>{hint}</p>}
      {children}
    </div>
  );
}
