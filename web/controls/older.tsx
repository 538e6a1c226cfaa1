/** The end of a list: a button for the page after it, and why that did not come. */
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
