/** Who did what, when and from where; the newest first. */
import { Fragment } from 'preact';
import { z } from 'zod';
import { integrationView, templateView } from '../../src/contract/admin.ts';
import { agentView } from '../../src/contract/agent-view.ts';
import { deedKind } from '../../src/contract/deeds.ts';
import { type AuditEntry, type AuditPage, auditPage, personView } from '../../src/contract/people.ts';
import { printerView } from '../../src/contract/printer-view.ts';
import { webhookView } from '../../src/contract/webhook.ts';
import { place, refine, to } from '../address/place.ts';
import { CardTable } from '../controls/card-table.tsx';
import { Choice } from '../controls/field.tsx';
import { Older } from '../controls/older.tsx';
import { Empty, Page, Shown } from '../controls/page.tsx';
import { sayProblem } from '../controls/problem.tsx';
import { SearchField } from '../controls/search-field.tsx';
import { TODAY, timed } from '../jobs/asked.ts';
import { shortId } from '../jobs/job-words.tsx';
import { call } from '../service/call.ts';
import { useLive } from '../service/live.ts';
import { type Rows, useOlder } from '../service/older.ts';
import { ofTenant, session } from '../service/session.ts';
import { inFull, t, whenExactly } from '../texts/texts.ts';
import { deedOf, detailOf, type Names, saidValue } from './deed-words.ts';

/** How many entries an export asks for in one request. */
const BATCH = 1_000;

/** The filters, with the same names in the address and in requests; `since` is a word that each request replaces by a time. */
const FILTERS = ['about', 'text', 'since'] as const;

function pathOf(query: URLSearchParams, more: Readonly<Record<string, string>> = {}): string {
  const search = new URLSearchParams({ tenant: session.value?.tenant.id ?? '' });
  for (const name of FILTERS) {
    const value = query.get(name)?.trim() ?? '';
    if (value !== '') search.set(name, value);
  }
  for (const [name, value] of Object.entries(more)) search.set(name, value);
  return `/audit?${search}`;
}

const rowsOf = ({ entries, next }: AuditPage): Rows<AuditEntry> => ({ rows: entries, next });

export function Audit() {
  const { audit: words } = t.value;
  const { query } = place.value;
  const path = pathOf(query);
  const { live, reload } = useLive(auditPage, path, () => true, timed);
  const all = useOlder({
    list: path,
    page: live.data && rowsOf(live.data),
    ask: async (before, signal) =>
      rowsOf(await call(auditPage, timed(pathOf(query, { before })), { signal })),
    // Nothing is ever removed from the audit, so an entry that has left the first page stands below it.
    below: () => true,
  });
  const said = (work: () => Promise<void>) => () => {
    work().catch((error: unknown) => sayProblem(error));
  };
  return (
    <Page
      title={words.title}
      actions={
        <>
          <button type="button" class="button" onClick={said(() => exportAll('csv', query))}>
            {words.exportTable}
          </button>
          <button type="button" class="button" onClick={said(() => exportAll('jsonl', query))}>
            {words.export}
          </button>
        </>
      }
    >
      <div class="stack">
        <p class="muted">{words.hint}</p>
        <Filters query={query} />
        <Shown of={live} onRetry={reload}>
          {() => (
            <>
              {all.rows.length > 0 ? (
                <Entries entries={all.rows} />
              ) : (
                <Empty
                  icon="audit"
                  title={words[filtered(query) ? (all.more ? 'notYet' : 'noneFits') : 'empty']}
                >
                  {filtered(query) && (
                    <a class="button" href={to(['audit'])}>
                      {t.value.jobs.clear}
                    </a>
                  )}
                </Empty>
              )}
              <Older of={all} />
            </>
          )}
        </Shown>
      </div>
    </Page>
  );
}

const filtered = (query: URLSearchParams) => FILTERS.some((name) => (query.get(name) ?? '') !== '');

function Filters({ query }: { query: URLSearchParams }) {
  const { audit: words, jobs } = t.value;
  return (
    <search class="filters">
      <SearchField
        label={words.search}
        value={query.get('text') ?? ''}
        onText={(text) => refine({ text: text.slice(0, 200) })}
      />
      <Choice
        aria-label={words.what}
        value={query.get('about') ?? ''}
        options={[
          { value: '', words: words.anyDeed },
          ...deedKind.options.map((kind) => ({ value: kind, words: words.kinds[kind] })),
        ]}
        onChoice={(about) => refine({ about })}
      />
      <Choice
        aria-label={words.when}
        value={query.get('since') ?? ''}
        options={[
          { value: '', words: jobs.anyTime },
          { value: TODAY, words: jobs.today },
          { value: '24h', words: jobs.day },
          { value: '7d', words: jobs.week },
        ]}
        onChoice={(since) => refine({ since })}
      />
    </search>
  );
}

/** The present names of templates, printers, integrations and people, by their IDs. */
function useNames(): Names {
  const templates = useLive(z.array(templateView), ofTenant('/templates'), () => false).live.data ?? [];
  const printers = useLive(z.array(printerView), '/printers', () => false).live.data ?? [];
  const accounts = useLive(z.array(integrationView), ofTenant('/integrations'), () => false).live.data ?? [];
  const agents = useLive(z.array(agentView), '/agents', () => false).live.data ?? [];
  const webhooks = useLive(z.array(webhookView), ofTenant('/webhooks'), () => false).live.data ?? [];
  const people = useLive(z.array(personView), ofTenant('/people'), () => false).live.data ?? [];
  return new Map([
    ...[...templates, ...printers, ...agents].map(({ id, name }) => [id, name] as const),
    ...accounts.map(({ apiKey, name }) => [apiKey, name] as const),
    ...webhooks.map(({ id, url }) => [id, url] as const),
    ...people.map(({ id, name, login }) => [id, name === '' ? login : name] as const),
  ]);
}

/** `PAGE_OF`: the page of an object of this kind; `LIST_OF`: for kinds without a page of their own, the list that has them. */
const PAGE_OF: Readonly<Record<string, string>> = {
  job: 'jobs',
  jobs: 'jobs',
  template: 'templates',
  printer: 'printers',
  webhook: 'webhooks',
};
const LIST_OF: Readonly<Record<string, string>> = {
  agent: 'agents',
  integration: 'integrations',
  person: 'people',
  invitation: 'people',
  session: 'people',
  passkey: 'people',
};

/** The object of a deed, by its name if it still has one, with a link to its page. */
function About({ entry: { object, what }, names }: { entry: AuditEntry; names: Names }) {
  if (object === null) return null;
  const [kind = ''] = what.split('.');
  const [page, list] = [PAGE_OF[kind], LIST_OF[kind]];
  const name = names.get(object);
  const words = name ?? (UUID.test(object) ? shortId(object) : object);
  const said = <span class={name === undefined ? 'mono' : ''}>{words}</span>;
  const there = page === 'jobs' || name !== undefined;
  const path = page !== undefined ? [page, object] : list !== undefined ? [list] : undefined;
  return there && path !== undefined ? (
    <a href={to(path)} title={object}>
      {said}
    </a>
  ) : (
    <span title={object}>{said}</span>
  );
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The details of an entry; a job among them is a link to its page. */
function Details({ of, names }: { of: AuditEntry['details']; names: Names }) {
  return (
    <div class="small muted">
      {Object.entries(of).map(([name, value], at) => (
        <Fragment key={name}>
          {at > 0 && ', '}
          {detailOf(name)}:{' '}
          {typeof value === 'string' && UUID.test(value) && (name === 'job' || name === 'reprint') ? (
            <a href={to(['jobs', value])} title={value}>
              {shortId(value)}
            </a>
          ) : (
            saidValue(name, value, names)
          )}
        </Fragment>
      ))}
    </div>
  );
}

function Entries({ entries }: { entries: readonly AuditEntry[] }) {
  const { audit: words } = t.value;
  const names = useNames();
  return (
    <CardTable
      rows={entries}
      keyOf={({ id }) => id}
      columns={[
        {
          title: words.when,
          look: 'nowrap muted',
          cell: ({ at }) => (
            <time dateTime={at} title={inFull(at)}>
              {whenExactly(at)}
            </time>
          ),
        },
        {
          title: words.who,
          cell: ({ who }) => (
            <div>
              <span class={who.kind === 'machine' ? 'nowrap' : ''}>{who.name}</span>
              {who.kind === 'machine' && <span class="muted small"> ({words.machine})</span>}
            </div>
          ),
        },
        {
          title: words.what,
          cell: ({ what, details }) => (
            <div>
              <span title={what}>{deedOf(what)}</span>
              <Details of={details} names={names} />
            </div>
          ),
        },
        { title: words.object, look: 'small', cell: (entry) => <About entry={entry} names={names} /> },
        {
          title: words.from,
          look: ({ from }) => `mono small muted ${isShort(from) ? 'nowrap' : ''}`,
          cell: ({ from }) => from,
        },
      ]}
    />
  );
}

/** Whether the address fits on one line: IPv4 does, IPv6 may need two. */
function isShort(from: string | null): boolean {
  return from !== null && from.length <= 15;
}

const COLUMNS = ['at', 'who', 'what', 'object', 'details', 'from'] as const;

/**
 * A cell of CSV. The apostrophe keeps a spreadsheet program from running the text as a formula: strangers choose some of the
 * names in it.
 */
function cellOf(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}

function tableLine({ at, who, what, object, details, from }: AuditEntry): string {
  return [at, who.name, what, object ?? '', JSON.stringify(details), from ?? ''].map(cellOf).join(',');
}

async function exportAll(kind: 'csv' | 'jsonl', query: URLSearchParams): Promise<void> {
  const lines: string[] = kind === 'csv' ? [COLUMNS.join(',')] : [];
  for (let before: string | null | undefined; before !== null; ) {
    const more = { limit: String(BATCH), ...(before === undefined ? {} : { before }) };
    const page: AuditPage = await call(auditPage, timed(pathOf(query, more)));
    for (const entry of page.entries) lines.push(kind === 'csv' ? tableLine(entry) : JSON.stringify(entry));
    before = page.next;
  }
  const link = document.createElement('a');
  link.href = URL.createObjectURL(
    new Blob([`${lines.join('\n')}\n`], { type: kind === 'csv' ? 'text/csv' : 'application/jsonl' }),
  );
  link.download = `audit.${kind}`;
  link.click();
  URL.revokeObjectURL(link.href);
}
