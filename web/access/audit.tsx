/** Who did what, when and from where; the newest first. */
import { z } from 'zod';
import { integrationView, templateView } from '../../src/contract/admin.ts';
import { type AuditEntry, type AuditPage, auditPage, personView } from '../../src/contract/people.ts';
import { printerView } from '../../src/contract/printer-view.ts';
import { to } from '../address/place.ts';
import { Older } from '../controls/older.tsx';
import { Empty, Page, Shown } from '../controls/page.tsx';
import { wordsOf } from '../controls/problem.tsx';
import { say } from '../controls/toast.tsx';
import { shortId } from '../jobs/job-words.tsx';
import { call } from '../service/call.ts';
import { useLive } from '../service/live.ts';
import { type Rows, useOlder } from '../service/older.ts';
import { ofTenant, session } from '../service/session.ts';
import { inFull, t, whenExactly } from '../texts/texts.ts';
import { scopeInWords } from './integrations.tsx';

/** Entries of one request of an export. */
const BATCH = 1_000;

const pathOf = (query: string) =>
  `/audit?tenant=${encodeURIComponent(session.value?.tenant.id ?? '')}${query === '' ? '' : `&${query}`}`;

const rowsOf = ({ entries, next }: AuditPage): Rows<AuditEntry> => ({ rows: entries, next });

export function Audit() {
  const { audit: words } = t.value;
  const { live, reload } = useLive(auditPage, pathOf(''));
  const all = useOlder({
    list: pathOf(''),
    page: live.data && rowsOf(live.data),
    ask: async (before, signal) => rowsOf(await call(auditPage, pathOf(`before=${before}`), { signal })),
    // No entry ever leaves the list: what is not on the first page any more stands below it.
    below: () => true,
  });
  const said = (work: () => Promise<void>) => () => {
    work().catch((error: unknown) => say(error instanceof Error ? wordsOf(error) : String(error), true));
  };
  return (
    <Page
      title={words.title}
      actions={
        <>
          <button type="button" class="button" onClick={said(() => exportAll('csv'))}>
            {words.exportTable}
          </button>
          <button type="button" class="button" onClick={said(() => exportAll('jsonl'))}>
            {words.export}
          </button>
        </>
      }
    >
      <div class="stack">
        <p class="muted">{words.hint}</p>
        <Shown of={live} onRetry={reload}>
          {() =>
            all.rows.length === 0 ? (
              <Empty icon="audit" title={words.empty} />
            ) : (
              <>
                <Entries entries={all.rows} />
                <Older of={all} />
              </>
            )
          }
        </Shown>
      </div>
    </Page>
  );
}

type Names = ReadonlyMap<string, string>;

/** What templates, printers, integrations and people are called now, by their IDs. */
function useNames(): Names {
  const templates = useLive(z.array(templateView), ofTenant('/templates'), () => false).live.data ?? [];
  const printers = useLive(z.array(printerView), '/printers', () => false).live.data ?? [];
  const accounts = useLive(z.array(integrationView), ofTenant('/integrations'), () => false).live.data ?? [];
  const people = useLive(z.array(personView), ofTenant('/people'), () => false).live.data ?? [];
  return new Map([
    ...[...templates, ...printers].map(({ id, name }) => [id, name] as const),
    ...accounts.map(({ apiKey, name }) => [apiKey, name] as const),
    ...people.map(({ id, name, login }) => [id, name === '' ? login : name] as const),
  ]);
}

/** The pages on which the objects of deeds are; the others have none of their own. */
const PAGE_OF: Readonly<Record<string, string>> = { job: 'jobs', template: 'templates', printer: 'printers' };

/** What was done something to, by its name where it still has one, with the way to its page. */
function About({ entry: { object, what }, names }: { entry: AuditEntry; names: Names }) {
  if (object === null) return null;
  const page = PAGE_OF[what.split('.')[0] ?? ''];
  const name = names.get(object);
  const words = name ?? (page === 'jobs' ? shortId(object) : object);
  const said = <span class={name === undefined ? 'mono' : ''}>{words}</span>;
  const there = page === 'jobs' || (page !== undefined && name !== undefined);
  return there ? (
    <a href={to([page, object])} title={object}>
      {said}
    </a>
  ) : (
    <span title={object}>{said}</span>
  );
}

function Entries({ entries }: { entries: readonly AuditEntry[] }) {
  const { audit: words } = t.value;
  const names = useNames();
  return (
    <div class="card flush">
      <table class="cards">
        <thead>
          <tr>
            <th>{words.when}</th>
            <th>{words.who}</th>
            <th>{words.what}</th>
            <th>{words.object}</th>
            <th>{words.from}</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr key={entry.id}>
              <td data-label={words.when} class="nowrap muted">
                <time dateTime={entry.at} title={inFull(entry.at)}>
                  {whenExactly(entry.at)}
                </time>
              </td>
              <td data-label={words.who}>
                {entry.who.name}
                {entry.who.kind === 'machine' && <span class="muted small"> ({words.machine})</span>}
              </td>
              <td data-label={words.what}>
                <div>
                  <span title={entry.what}>{deedOf(entry.what)}</span>
                  {Object.keys(entry.details).length > 0 && (
                    <div class="small muted">
                      {Object.entries(entry.details)
                        .map(([name, value]) => `${detailOf(name)}: ${saidValue(name, value)}`)
                        .join(', ')}
                    </div>
                  )}
                </div>
              </td>
              <td data-label={words.object} class="small">
                <About entry={entry} names={names} />
              </td>
              <td data-label={words.from} class={`mono small muted ${isShort(entry.from) ? 'nowrap' : ''}`}>
                {entry.from}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The deed in words; a deed that only a newer service knows is shown by its code. */
function deedOf(what: string): string {
  const words: Readonly<Record<string, string>> = t.value.audit.deeds;
  return Object.hasOwn(words, what) ? (words[what] ?? what) : what;
}

function detailOf(name: string): string {
  const words: Readonly<Record<string, string>> = t.value.audit.details;
  return Object.hasOwn(words, name) ? (words[name] ?? name) : name;
}

function saidValue(name: string, value: unknown): string {
  const { audit: words, integrations, people } = t.value;
  if (name === 'oldForHours') {
    const spans: Readonly<Record<string, string>> = integrations.oldUntil;
    return spans[String(value ?? '')] ?? words.hours(Number(value));
  }
  if (Array.isArray(value)) return value.map((one: unknown) => saidValue(name, one)).join(', ');
  if (name === 'scope' && typeof value === 'string') return scopeInWords(value);
  const known: Readonly<Record<string, string>> = name === 'role' ? people.roles : {};
  if (typeof value === 'string' && Object.hasOwn(known, value)) return known[value] ?? value;
  if (typeof value === 'object' && value !== null) {
    return Object.values(value)
      .map((one: unknown) => saidValue('', one))
      .join(', ');
  }
  if (typeof value === 'boolean') return value ? words.yes : words.no;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Whether the address is short enough not to wrap: IPv4 is, IPv6 may need two lines. */
function isShort(from: string | null): boolean {
  return from !== null && from.length <= 15;
}

const COLUMNS = ['at', 'who', 'what', 'object', 'details', 'from'] as const;

/** A cell of CSV. A spreadsheet program takes what begins so for a formula: others choose the names that are in it. */
function cellOf(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}

function tableLine({ at, who, what, object, details, from }: AuditEntry): string {
  return [at, who.name, what, object ?? '', JSON.stringify(details), from ?? ''].map(cellOf).join(',');
}

async function exportAll(kind: 'csv' | 'jsonl'): Promise<void> {
  const lines: string[] = kind === 'csv' ? [COLUMNS.join(',')] : [];
  for (let before: string | null | undefined; before !== null; ) {
    const page = await call(
      auditPage,
      pathOf(`limit=${BATCH}${before === undefined ? '' : `&before=${before}`}`),
    );
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
