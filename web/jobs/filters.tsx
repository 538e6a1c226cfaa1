/** The filters of the jobs page. They are kept in the address, so that a view can be sent to somebody. */
import { useSignal } from '@preact/signals';
import { z } from 'zod';
import { integrationView, templateView } from '../../src/contract/admin.ts';
import { printerView } from '../../src/contract/printer-view.ts';
import { place, refine } from '../address/place.ts';
import { Choice } from '../controls/field.tsx';
import { SearchField } from '../controls/search-field.tsx';
import { ofTheTenant, useLive } from '../service/live.ts';
import { may, ofTenant, session } from '../service/session.ts';
import { t } from '../texts/texts.ts';

const HOUR_MS = 3_600_000;
const SPANS: Readonly<Record<string, number>> = { '1h': HOUR_MS, '24h': 24 * HOUR_MS, '7d': 168 * HOUR_MS };
/** Value of `since` for a span between two chosen times, `from` and `until`. */
const BETWEEN = 'between';
/** What the service accepts as the beginning of an ID. */
const ID = /^[0-9a-f-]{0,36}$/;

/** The time in the viewer's zone, as a `datetime-local` input takes it; empty where `iso` is no time. */
function localTime(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return '';
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The filters as a query for the service. Times are rounded to minutes, so that the query seldom changes. */
export function asked(withStatus: boolean): string {
  const { query } = place.value;
  const search = new URLSearchParams();
  for (const name of ['printer', 'template', 'account', ...(withStatus ? ['status'] : [])]) {
    const value = query.get(name);
    if (value) search.set(name, value);
  }
  const id = query.get('id') ?? '';
  if (id !== '' && ID.test(id)) search.set('id', id);
  const since = query.get('since') ?? '';
  if (since === BETWEEN) {
    for (const [name, bound] of [
      ['since', query.get('from')],
      ['until', query.get('until')],
    ] as const) {
      if (bound && localTime(bound) !== '') search.set(name, bound);
    }
  }
  const span = SPANS[since];
  if (span !== undefined) {
    const minute = 60_000;
    search.set('since', new Date(Math.floor((Date.now() - span) / minute) * minute).toISOString());
  }
  return search.toString();
}

export function Filters() {
  const { jobs: words } = t.value;
  const { query } = place.value;
  const printers = useLive(z.array(printerView), '/printers', () => false).live.data ?? [];
  const templates = useLive(z.array(templateView), ofTenant('/templates'), ofTheTenant).live.data ?? [];
  const accounts = useLive(
    z.array(integrationView),
    may('integrations') ? ofTenant('/integrations') : null,
    () => false,
  ).live.data;
  const text = useSignal(query.get('id') ?? '');
  const wrong = !ID.test(text.value);
  const named = (rows: readonly { name: string }[], chosen: string, any: string) => {
    const names = new Set([...rows.map(({ name }) => name), ...(chosen === '' ? [] : [chosen])]);
    return [{ value: '', words: any }, ...[...names].sort().map((name) => ({ value: name, words: name }))];
  };
  const account = query.get('account') ?? '';
  const senders = new Map(account === '' ? [] : [[account, account]]);
  const own = session.value?.person.login;
  if (own !== undefined) senders.set(own, own);
  for (const { apiKey, name } of accounts ?? []) senders.set(apiKey, name);
  const [printer, template] = [query.get('printer') ?? '', query.get('template') ?? ''];
  return (
    <search class="filters">
      <SearchField
        label={words.search}
        fault={wrong ? words.searchWrong : undefined}
        value={text.value}
        onText={(now) => {
          text.value = now.trim().toLowerCase();
          if (ID.test(text.value)) refine({ id: text.value });
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
      <Choice
        aria-label={words.accepted}
        value={query.get('since') ?? ''}
        options={[
          { value: '', words: words.anyTime },
          { value: '1h', words: words.hour },
          { value: '24h', words: words.day },
          { value: '7d', words: words.week },
          { value: BETWEEN, words: words.between },
        ]}
        onChoice={(value) => refine({ since: value, from: '', until: '' })}
      />
      {query.get('since') === BETWEEN && (
        <>
          <Bound name="from" words={words.from} />
          <Bound name="until" words={words.until} />
        </>
      )}
      {wrong && (
        <p class="small" role="alert">
          {words.searchWrong}
        </p>
      )}
    </search>
  );
}

/** One end of a time span: in UTC in the address, in the viewer's zone on the page. */
function Bound({ name, words }: { name: 'from' | 'until'; words: string }) {
  return (
    <input
      type="datetime-local"
      class="input"
      aria-label={words}
      title={words}
      value={localTime(place.value.query.get(name) ?? '')}
      onChange={({ currentTarget: { value } }) => {
        const at = new Date(value);
        refine({ [name]: Number.isNaN(at.getTime()) ? '' : at.toISOString() });
      }}
    />
  );
}
