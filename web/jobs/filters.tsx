/** The filters of the jobs page. They are in the address, so that people can send what they see to somebody else. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { z } from 'zod';
import { templateView } from '../../src/contract/admin.ts';
import { printerView } from '../../src/contract/printer-view.ts';
import { place, refine } from '../address/place.ts';
import { Choice } from '../controls/field.tsx';
import { SearchField } from '../controls/search-field.tsx';
import { ofTheTenant, useLive } from '../service/live.ts';
import { may, ofTenant, session } from '../service/session.ts';
import { t } from '../texts/texts.ts';
import { BETWEEN, ID, localTime, TODAY } from './asked.ts';
import { useSenders } from './senders.ts';
import { ValueSearch } from './value-search.tsx';

const MORE = 'more-filters';

export function Filters() {
  const { jobs: words } = t.value;
  const { query } = place.value;
  const printers = useLive(z.array(printerView), '/printers', () => false).live.data ?? [];
  const templates = useLive(z.array(templateView), ofTenant('/templates'), ofTheTenant).live.data ?? [];
  const known = useSenders();
  // Text that no ID can begin with does not go into the address: it stays in the field until a filter changes.
  const wrongText = useSignal('');
  const wrong = wrongText.value !== '';
  useEffect(() => {
    wrongText.value = '';
  }, [query]);
  const named = (rows: readonly { name: string }[], chosen: string, any: string) => {
    const names = new Set([...rows.map(({ name }) => name), ...(chosen === '' ? [] : [chosen])]);
    return [{ value: '', words: any }, ...[...names].sort().map((name) => ({ value: name, words: name }))];
  };
  const account = query.get('account') ?? '';
  const senders = new Map(account === '' ? [] : [[account, known.nameOf(account)]]);
  const own = session.value?.person.login;
  if (own !== undefined) senders.set(own, own);
  for (const [apiKey, name] of known.names) senders.set(apiKey, name);
  const open = useSignal(false);
  // Without test keys there are no tests.
  const tests = query.get('test') ?? '';
  const mayBeTests = tests !== '' || known.tests === true;
  const set = ['id', 'printer', 'template', 'account', 'test', 'since'].filter((name) =>
    query.get(name),
  ).length;
  const [printer, template] = [query.get('printer') ?? '', query.get('template') ?? ''];
  return (
    <search class="filters">
      {may('labels:read') && <ValueSearch />}
      <button
        type="button"
        class="button narrow-only"
        aria-expanded={open.value}
        aria-controls={MORE}
        onClick={() => {
          open.value = !open.value;
        }}
      >
        {words.filters(set)}
      </button>
      <div id={MORE} class={open.value ? 'more-filters open' : 'more-filters'}>
        <SearchField
          label={words.search}
          fault={wrong ? words.searchWrong : undefined}
          value={wrong ? wrongText.value : (query.get('id') ?? '')}
          onText={(now) => {
            const text = now.trim().toLowerCase();
            if (ID.test(text)) refine({ id: text });
            else wrongText.value = text;
          }}
        />
        <Choice
          aria-label={words.printer}
          value={printer}
          options={named(printers, printer, words.anyPrinter)}
          onChoice={(value) => refine({ printer: value })}
        />
        <Choice
          aria-label={words.template}
          value={template}
          options={named(templates, template, words.anyTemplate)}
          onChoice={(value) => refine({ template: value })}
        />
        <Choice
          aria-label={words.account}
          value={account}
          options={[
            { value: '', words: words.anyAccount },
            ...[...senders].map(([value, name]) => ({ value, words: name })),
          ]}
          onChoice={(value) => refine({ account: value })}
        />
        {mayBeTests && (
          <Choice
            aria-label={words.tests}
            value={tests}
            options={[
              { value: '', words: words.anyTests },
              { value: 'true', words: words.onlyTests },
              { value: 'false', words: words.noTests },
            ]}
            onChoice={(value) => refine({ test: value })}
          />
        )}
        <Choice
          aria-label={words.accepted}
          value={query.get('since') ?? ''}
          options={[
            { value: '', words: words.anyTime },
            { value: TODAY, words: words.today },
            { value: '1h', words: words.hour },
            { value: '24h', words: words.day },
            { value: '7d', words: words.week },
            { value: BETWEEN, words: words.between },
          ]}
          onChoice={(value) => refine({ since: value, from: '', until: '' })}
        />
        {query.get('since') === BETWEEN && (
          <div class="bounds">
            <Bound name="from" words={words.from} />
            <Bound name="until" words={words.until} />
          </div>
        )}
      </div>
    </search>
  );
}

/** One end of a time span. The address has it in UTC, the page in the viewer's time zone. */
function Bound({ name, words }: { name: 'from' | 'until'; words: string }) {
  return (
    <label class="bound">
      <span class="small muted">{words}</span>
      <input
        type="datetime-local"
        class="input"
        value={localTime(place.value.query.get(name) ?? '')}
        onChange={({ currentTarget: { value } }) => {
          const at = new Date(value);
          refine({ [name]: Number.isNaN(at.getTime()) ? '' : at.toISOString() });
        }}
      />
    </label>
  );
}
