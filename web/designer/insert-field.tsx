/** A list of the label's fields, of which one goes into the text where the caret is. */
import type { RefObject } from 'preact';
import { t } from '../texts/texts.ts';
import type { Editor } from './editor.ts';

const BUILT_IN = ['$record', '$records', '$copy', '$copies', '$label', '$labels', '$now', '$today'];

type Props = { editor: Editor; area: RefObject<HTMLTextAreaElement | null>; onText: (text: string) => void };

export function InsertField({ editor, area, onText }: Props) {
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
  return (
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
  );
}
