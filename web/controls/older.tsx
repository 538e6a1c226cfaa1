/** The end of a list: a button that loads the next page, and why that page could not be loaded. */
import { t } from '../texts/texts.ts';
import { Problem } from './problem.tsx';

type OlderProps = { of: { more: boolean; busy: boolean; problem: Error | undefined; load: () => void } };

export function Older({ of: { more, busy, problem, load } }: OlderProps) {
  return (
    <>
      {problem !== undefined && <Problem problem={problem} onRetry={load} />}
      {more && (
        <div class="row">
          <button type="button" class="button" disabled={busy} onClick={load}>
            {t.value.general.older}
          </button>
        </div>
      )}
    </>
  );
}
