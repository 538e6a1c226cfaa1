/** The editor of a GS1 value: its application identifiers, their order, and the data or field of each. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { Choice, Field, TextField } from '../../controls/field.tsx';
import { Opens } from '../../controls/opens.tsx';
import { sets } from '../../controls/sets.ts';
import { type AiFormat, formatOf, hasOwnLength } from '../../templates/gs1-identifiers.ts';
import { t } from '../../texts/texts.ts';
import type { LabelElement } from '../document.ts';
import type { Editor } from '../editor.ts';
import { gs1Kind } from '../symbologies.ts';
import { adviceOn } from './advice.ts';
import { AiChoice } from './ai-choice.tsx';
import {
  type AiElement,
  elementsOf,
  joined,
  partsOf,
  sampled,
  textOfElements,
  withPlaces,
} from './element-string.ts';
import { adviceWords, formatWords, nameOfAi } from './words.ts';

type Barcode = Extract<LabelElement, { type: 'barcode' }>;
type BuilderProps = {
  editor: Editor;
  element: Barcode;
  /** The service's problems with the element, in words. */
  problems: readonly string[];
  /** @param word changes in a row with the same word are one step of undo */
  onValue: (value: string, word?: string) => void;
};

export function Gs1Builder({ editor, element, problems, onValue }: BuilderProps) {
  const { gs1: words } = t.value;
  const composite = gs1Kind(element.symbology) === 'composite';
  const { head, text } = partsOf(element.value, composite);
  const setHead = (next: string, word?: string) =>
    onValue(joined({ head: next, text }, composite), word && `head ${word}`);
  const shared = { editor, problems };
  return (
    <div class="stack">
      {composite &&
        (/^(?:ean|upc)/.test(element.symbology) ? (
          <TextField label={words.below} value={head} onText={(next) => setHead(next, 'value')} />
        ) : (
          <AiList {...shared} title={words.below} text={head} onText={setHead} />
        ))}
      <AiList
        {...shared}
        title={composite ? words.above : words.title}
        text={text}
        onText={(next, word) => onValue(joined({ head, text: next }, composite), word)}
      />
    </div>
  );
}

type ListProps = Pick<BuilderProps, 'editor' | 'problems'> & {
  title: string;
  text: string;
  onText: (text: string, word?: string) => void;
};

function AiList({ editor, problems, title, text, onText }: ListProps) {
  const { gs1: words } = t.value;
  const adding = useSignal(false);
  const elements = elementsOf(text);
  if (elements === undefined) {
    return (
      <section class="stack tight" aria-label={title}>
        <h2 class="label">{title}</h2>
        <p class="muted small">{words.notElements}</p>
      </section>
    );
  }
  const { fields = [] } = editor.scene.value.document;
  const samples = editor.samples.value;
  const set = (next: readonly AiElement[], word?: string) => onText(textOfElements(next), word);
  const sorted = elements.toSorted((a, b) => Number(hasOwnLength(b.ai)) - Number(hasOwnLength(a.ai)));
  const saves = separators(elements) - separators(sorted);
  return (
    <section class="stack tight" aria-label={title}>
      <h2 class="label">{title}</h2>
      <ol class="stack tight">
        {elements.map((own, at) => (
          <AiRow
            key={`${at} ${own.ai}`}
            own={own}
            at={at}
            of={elements.length}
            samples={samples}
            said={problems.find((problem) => problem.includes(`AI (${own.ai})`))}
            fields={fields.map(({ name }) => name)}
            onChange={(next, word) => set(elements.with(at, next), word)}
            onMove={(to) => set(elements.with(at, elements[to] ?? own).with(to, own))}
            onRemove={() => set(elements.toSpliced(at, 1))}
          />
        ))}
      </ol>
      <div class="row">
        <Opens what={adding}>{words.add}</Opens>
        {saves > 0 && (
          <button type="button" class="button" title={words.sortHint} onClick={() => set(sorted)}>
            {words.sort(saves)}
          </button>
        )}
      </div>
      {elements.length > 0 && <Read elements={elements} samples={samples} />}
      {adding.value && (
        <AiChoice
          onClose={sets(adding, false)}
          onAi={(ai) => {
            adding.value = false;
            set([...elements, { ai, data: '' }]);
          }}
        />
      )}
    </section>
  );
}

/** How many FNC1 stand between elements: one after each element without a predefined length, except the last. */
function separators(elements: readonly AiElement[]): number {
  return elements.slice(0, -1).filter(({ ai }) => !hasOwnLength(ai)).length;
}

type RowProps = {
  own: AiElement;
  at: number;
  of: number;
  samples: ReadonlyMap<string, string>;
  said: string | undefined;
  fields: readonly string[];
  /** @param word as `onValue` takes it */
  onChange: (next: AiElement, word?: string) => void;
  onMove: (to: number) => void;
  onRemove: () => void;
};

function AiRow({ own, at, of, samples, said, fields, onChange, onMove, onRemove }: RowProps) {
  const { gs1: words, designer } = t.value;
  const input = useRef<HTMLInputElement>(null);
  const format = formatOf(own.ai);
  const finding = adviceOn(own, samples);
  const name = nameOfAi(own.ai);
  const act = (what: string, sign: string, off: boolean, work: () => void) => (
    <button
      type="button"
      class="button quiet square"
      aria-label={designer.about(what, `(${own.ai}) ${name}`)}
      title={what}
      disabled={off}
      onClick={work}
    >
      <span aria-hidden="true">{sign}</span>
    </button>
  );
  const insert = (field: string) => {
    const { current } = input;
    if (current === null || field === '') return;
    const { value, selectionStart, selectionEnd } = current;
    const [from, to] = [selectionStart ?? value.length, selectionEnd ?? value.length];
    onChange({ ...own, data: value.slice(0, from) + placeholderOf(field, own.ai, format) + value.slice(to) });
    current.focus();
  };
  return (
    <li class="ai">
      <div class="ai-head">
        <span class="anywhere">
          <strong class="numbers">({own.ai})</strong> {name}
        </span>
        <span class="row">
          {act(words.up, '↑', at === 0, () => onMove(at - 1))}
          {act(words.down, '↓', at + 1 === of, () => onMove(at + 1))}
          {act(words.remove, '✕', false, onRemove)}
        </span>
      </div>
      <Field
        label={words.data(own.ai)}
        hint={format === undefined ? words.unknown : formatWords(format)}
        fault={finding === undefined ? said : adviceWords(finding.advice)}
      >
        {(attributes) => (
          <input
            {...attributes}
            ref={input}
            type="text"
            class="input"
            spellcheck={false}
            value={own.data}
            onInput={({ currentTarget }) => onChange({ ...own, data: currentTarget.value }, `value AI ${at}`)}
          />
        )}
      </Field>
      <div class="row">
        {finding?.fix !== undefined && (
          <button
            type="button"
            class="button"
            onClick={() => onChange({ ...own, data: finding.fix ?? own.data })}
          >
            {words.write} <code class="anywhere">{finding.fix}</code>
          </button>
        )}
        {format?.kind === 'amount' && (
          <Choice
            aria-label={words.decimals}
            value={own.ai.slice(-1)}
            options={[0, 1, 2, 3, 4, 5].map((count) => ({
              value: String(count),
              words: words.behindPoint(count),
            }))}
            onChoice={(count) =>
              onChange({
                ai: own.ai.slice(0, 3) + count,
                data: withPlaces(own.data, own.ai.slice(-1), count),
              })
            }
          />
        )}
        {fields.length > 0 && (
          <Choice
            aria-label={designer.about(designer.insertField, `(${own.ai})`)}
            value=""
            options={[
              { value: '', words: `${designer.insertField} …` },
              ...fields.map((field) => ({ value: field, words: field })),
            ]}
            onChoice={insert}
          />
        )}
      </div>
    </li>
  );
}

/** The placeholder of a field, in the form that the AI needs: a date as six digits, an amount without its point. */
function placeholderOf(field: string, ai: string, format: AiFormat | undefined): string {
  if (format?.kind === 'date') return `{{${field} | date:yyMMdd}}`;
  if (format?.kind !== 'amount') return `{{${field}}}`;
  const digits = `{{${field} | number:${ai.slice(-1)}:''`;
  return format.least > 1 ? `${digits} | padleft:${format.least}:0}}` : `${digits}}}`;
}

/** What a scanner reads: the AIs without brackets, and each FNC1. */
function Read({
  elements,
  samples,
}: {
  elements: readonly AiElement[];
  samples: ReadonlyMap<string, string>;
}) {
  const { gs1: words } = t.value;
  return (
    <p class="small muted anywhere">
      {words.read}{' '}
      {elements.map(({ ai, data }, at) => (
        <span key={at}>
          {(at === 0 || !hasOwnLength(elements[at - 1]?.ai ?? '')) && <code class="fnc1">FNC1</code>}
          <code>
            {ai}
            {sampled(data, samples) ?? data}
          </code>{' '}
        </span>
      ))}
    </p>
  );
}
