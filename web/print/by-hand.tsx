/** Prints one label with typed values, and shows its preview beside them. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { TemplateProblem } from '../../src/contract/template-problem.ts';
import { recordOf } from '../../src/tables/table.ts';
import { Problem } from '../controls/problem.tsx';
import { recordOf as placeOf, reasonWords } from '../controls/reason-words.ts';
import { errorOf, Refusal } from '../service/call.ts';
import { templateWords } from '../templates/problem-words.ts';
import { fieldOf, fieldsOf, type SavedTemplate } from '../templates/saved-template.ts';
import { t } from '../texts/texts.ts';
import { FieldControl } from './field-control.tsx';
import { fieldKinds } from './field-kinds.ts';
import { LabelPreview, refusedOf, ToPreview, useLabel } from './label-preview.tsx';
import { type Sending, send } from './request.ts';
import { typedBefore } from './typed-before.ts';

type ByHandProps = Sending & { template: SavedTemplate };

export function ByHand({ template, route, ready, attempts, agrees, onSent }: ByHandProps) {
  const { print: words } = t.value;
  const fields = fieldsOf(template);
  const kinds = useMemo(() => fieldKinds(template.template), [template]);
  const values = typedBefore(template.id);
  const problem = useSignal<Error | undefined>(undefined);
  const busy = useSignal(false);
  // A refusal for one printer or format says nothing about another.
  const where = JSON.stringify(route);
  useEffect(() => {
    problem.value = undefined;
  }, [where]);
  const begun = Object.values(values.value).some((text) => text !== '');
  const record = recordOf(fields, (name) => values.value[name] ?? '');
  const drawn = useLabel(route, begun ? record : undefined);
  const wrong = refusedOf(drawn).map((problem) => ({ problem, field: fieldOf(problem, template) }));
  // An empty field is not marked as wrong, because nobody has typed in it yet.
  const faultOf = (name: string) =>
    (values.value[name] ?? '') === '' ? undefined : wrong.find(({ field }) => field === name)?.problem;
  // Problems with samples concern whoever draws the template. They are shown here only if they prevent the picture.
  const isBelow = ({ field }: { field: string | undefined }) =>
    drawn.preview?.png === null
      ? field === undefined || faultOf(field) === undefined
      : begun && field === undefined;
  const refusedAt = (name: string) => {
    const faults = problem.value instanceof Refusal ? problem.value.faults : [];
    const own = faults.find((fault) => placeOf(fault)?.field === name);
    return own && (reasonWords(own.reason) ?? own.detail);
  };
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (busy.value || !(await agrees())) return;
    busy.value = true;
    problem.value = undefined;
    try {
      onSent(await send(route, fields.length === 0 ? undefined : [record], attempts));
    } catch (error) {
      problem.value = errorOf(error);
      busy.value = false;
    }
  };
  return (
    <form class="split" onSubmit={submit}>
      <div class="card stack">
        <div class="row spread">
          <h2>{words.values}</h2>
          {begun && (
            <button
              type="button"
              class="link"
              onClick={() => {
                values.value = {};
                problem.value = undefined;
              }}
            >
              {words.emptyAll}
            </button>
          )}
        </div>
        {fields.length === 0 && <p class="muted">{words.noFields}</p>}
        <div class="fields">
          {fields.map((field) => (
            <FieldControl
              key={field.name}
              field={field}
              kind={kinds.get(field.name) ?? { kind: 'text' }}
              fault={faultWords(faultOf(field.name)) ?? refusedAt(field.name)}
              value={values.value[field.name] ?? ''}
              onText={(text) => {
                values.value = { ...values.value, [field.name]: text };
                problem.value = undefined;
              }}
            />
          ))}
        </div>
        {problem.value !== undefined && <Problem problem={problem.value} />}
        {attempts.doubt.value && <div class="note warn">{words.maybeQueued}</div>}
        <div class="row print-bar">
          <ToPreview drawn={drawn} />
          <button type="submit" class="button primary" disabled={!ready || busy.value}>
            {words.print(route.numberCopies ?? 1)}
          </button>
        </div>
      </div>
      <LabelPreview
        drawn={drawn}
        samples={!begun && fields.length > 0}
        wrong={wrong.filter(isBelow).map(({ problem }) => problem)}
      />
    </form>
  );
}

/** The problem in words, without the field's name, because it stands beside that field. */
function faultWords(problem: TemplateProblem | undefined): string | undefined {
  return problem && templateWords(problem).replace(/^field "[^"]*": /, '');
}
