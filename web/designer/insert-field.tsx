/** Lists of the label's fields and of filters, from which people insert one into a text at the caret. */
import type { RefObject } from 'preact';
import { t } from '../texts/texts.ts';
import type { Editor } from './editor.ts';
import { FILTERS, withFilter } from './filters.ts';

const BUILT_IN = ['$record', '$records', '$copy', '$copies', '$label', '$labels', '$now', '$today'];

type Props = {
  editor: Editor;
  area: RefObject<HTMLTextAreaElement | null>;
  text: string;
  onText: (text: string) => void;
};

export function InsertField({ editor, area, text, onText }: Props) {
  const { designer: words } = t.value;
  const fields = (editor.scene.value.document.fields ?? []).map(({ name }) => name);
  const insert = (name: string) => {
    const { current } = area;
    if (current === null || name === '') return;
    const { value, selectionStart, selectionEnd } = current;
    const placeholder = `{{${name}}}`;
    onText(value.slice(0, selectionStart) + placeholder + value.slice(selectionEnd));
    current.focus();
  };
  const filter = (example: string) => {
    const { current } = area;
    const next = current === null ? undefined : withFilter(current.value, current.selectionStart, example);
    if (next === undefined) return;
    onText(next);
    current?.focus();
  };
  const hasFields = text.includes('{{');
  return (
    <div class="row insert">
      <select
        aria-label={words.insertField}
        value=""
        onChange={({ currentTarget }) => {
          insert(currentTarget.value);
          currentTarget.value = '';
        }}
      >
        <option value="">{words.insertField} …</option>
        {[...fields, ...BUILT_IN].map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <select
        aria-label={words.addFilter}
        value=""
        disabled={!hasFields}
        onChange={({ currentTarget }) => {
          filter(currentTarget.value);
          currentTarget.value = '';
        }}
      >
        <option value="">{words.addFilter} …</option>
        {FILTERS.map((name) => (
          <option key={name} value={name}>
            {words.filters[name]}
          </option>
        ))}
      </select>
    </div>
  );
}
