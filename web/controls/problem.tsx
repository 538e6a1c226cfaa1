/** Shows an error in words for the person at the page. */
import type { Reason } from '../../src/contract/reason.ts';
import { errorOf, type Fault, NoAnswer, OtherVersion, Refusal } from '../service/call.ts';
import { t } from '../texts/texts.ts';
import { placeWords } from './place-words.ts';
import { faultInRecord, reasonWords, recordOf } from './reason-words.ts';
import { say } from './toast.tsx';

/** At most this many faults are listed. */
const MOST = 20;

export function wordsOf(problem: Error): string {
  const { problem: words } = t.value;
  if (problem instanceof NoAnswer) return words.noAnswer;
  if (problem instanceof OtherVersion) return words.otherVersion;
  if (problem instanceof Refusal && problem.status === 403 && problem.code === 'permission-missing')
    return words.forbidden;
  if (problem instanceof Refusal) return refusalWords(problem.code, problem.message, problem.reason);
  return problem.message;
}

/** For an error that has no place on the page. */
export function sayProblem(error: unknown): void {
  say(wordsOf(errorOf(error)), true);
}

/** Words for a refusal: its reason, else the page's words for its code, else the service's own detail. */
export function refusalWords(code: string, detail: string, reason: Reason | undefined): string {
  return reasonWords(reason) ?? t.value.problem.refusals[code] ?? detail;
}

/** The faults to list below the refusal, if there are several, or if the page has words for one. */
function toldApart({ code, faults }: Refusal): readonly Fault[] {
  const known = faults.some(({ reason }) => reasonWords(reason) !== undefined);
  // The general words for `payload-invalid` do not say which place is wrong.
  const vague = code === 'payload-invalid' && Object.hasOwn(t.value.problem.refusals, code);
  return known || vague || faults.length > 1 ? faults.slice(0, MOST) : [];
}

/** The general words for a refusal, which stand above the list of its faults. */
function inGeneral({ code, title }: Refusal): string {
  return t.value.problem.refusals[code] ?? title;
}

/** @param several whether to name the record, because other records than the first are at fault */
function FaultWords({ fault, several }: { fault: Fault; several: boolean }) {
  const own = recordOf(fault);
  if (own !== undefined) {
    const words = faultInRecord(fault);
    return <>{several ? `${t.value.problem.atRecord(own.record + 1)}: ${words}` : words}</>;
  }
  return <>{placeWords(fault.pointer ?? '', reasonWords(fault.reason) ?? fault.detail)}</>;
}

export function Problem({ problem, onRetry }: { problem: Error; onRetry?: (() => void) | undefined }) {
  const { problem: words, general } = t.value;
  const faults = problem instanceof Refusal ? toldApart(problem) : [];
  return (
    <div class="note bad" role="alert">
      <strong>{words.title}</strong>
      <span>{problem instanceof Refusal && faults.length > 0 ? inGeneral(problem) : wordsOf(problem)}</span>
      {faults.length > 0 && (
        <ul class="small">
          {faults.map((fault) => (
            <li key={`${fault.pointer} ${fault.detail}`}>
              <FaultWords fault={fault} several={faults.some((one) => (recordOf(one)?.record ?? 0) > 0)} />
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
