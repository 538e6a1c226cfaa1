/** What went wrong, in words for who looks at the page. */
import { NoAnswer, OtherVersion, Refusal } from '../service/call.ts';
import { saidOf, t } from '../texts/texts.ts';

export function wordsOf(problem: Error): string {
  const { problem: words } = t.value;
  if (problem instanceof NoAnswer) return words.noAnswer;
  if (problem instanceof OtherVersion) return words.otherVersion;
  if (problem instanceof Refusal && problem.status === 403 && problem.code === 'permission-missing')
    return words.forbidden;
  if (problem instanceof Refusal) return refusalWords(problem.code, problem.message);
  return problem.message;
}

/** What the service refuses, by its code. */
export function refusalWords(code: string, detail: string): string {
  const { refusals, saysAll } = t.value.problem;
  return saysAll.has(code) ? (refusals[code] ?? detail) : saidOf(refusals, code, detail);
}

export function Problem({ problem, onRetry }: { problem: Error; onRetry?: (() => void) | undefined }) {
  const { problem: words, general } = t.value;
  const faults = problem instanceof Refusal && problem.faults.length > 1 ? problem.faults.slice(0, 20) : [];
  return (
    <div class="note bad" role="alert">
      <strong>{words.title}</strong>
      <span>{wordsOf(problem)}</span>
      {faults.length > 0 && (
        <ul class="small">
          {faults.map(({ pointer, detail }) => (
            <li key={`${pointer} ${detail}`}>
              {pointer !== undefined && <code>{pointer} </code>}
              {detail}
            </li>
          ))}
        </ul>
      )}
      {problem instanceof OtherVersion ? (
        <div class="row">
          <button type="button" class="button" onClick={() => location.reload()}>
            {words.reload}
          </button>
        </div>
      ) : (
        onRetry !== undefined && (
          <div class="row">
            <button type="button" class="button" onClick={onRetry}>
              {general.retry}
            </button>
          </div>
        )
      )}
    </div>
  );
}
