/** Finds jobs by a value on one of their labels. The address has only a mark for it: what is on labels must not be in an address. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { valueMark } from '../../src/contract/job-search.ts';
import { place, refine } from '../address/place.ts';
import { wordsOf } from '../controls/problem.tsx';
import { SearchField } from '../controls/search-field.tsx';
import { call, errorOf } from '../service/call.ts';
import { newestOf } from '../service/newest.ts';
import { ofTenant } from '../service/session.ts';
import { t } from '../texts/texts.ts';

const markOf = newestOf((value: string) =>
  call(valueMark, ofTenant('/jobs/value-mark'), { body: { value } }),
);

export function ValueSearch() {
  const { jobs: words } = t.value;
  const mark = place.value.query.get('value') ?? '';
  const typed = useSignal('');
  const fault = useSignal<string | undefined>(undefined);
  // Clearing the filters empties the field, too.
  useEffect(() => {
    if (mark === '' && fault.value === undefined) typed.value = '';
  }, [mark]);
  const search = async (text: string) => {
    fault.value = undefined;
    if (text.trim() === '') return refine({ value: '' });
    try {
      const found = await markOf(text);
      if (found === undefined) return;
      if (found.mark === null) fault.value = words.valueWrong;
      refine({ value: found.mark ?? '' });
    } catch (error) {
      fault.value = wordsOf(errorOf(error));
    }
  };
  return (
    <>
      <SearchField
        label={words.value}
        fault={fault.value}
        value={typed.value}
        onText={(text) => {
          typed.value = text;
          // The cross in the field empties it, and must clear the filter at once.
          if (text === '') void search('');
        }}
        onEntered={(text) => void search(text)}
      />
      {mark !== '' && typed.value === '' && (
        <button type="button" class="button" onClick={() => refine({ value: '' })}>
          {words.valueKept} ×
        </button>
      )}
    </>
  );
}
