/** Who did what, when and from where; the newest first. */
import { type AuditEntry, type AuditPage, auditPage } from '../../src/contract/people.ts';
import { Older } from '../controls/older.tsx';
import { Empty, Page, Shown } from '../controls/page.tsx';
import { wordsOf } from '../controls/problem.tsx';
import { say } from '../controls/toast.tsx';
import { call } from '../service/call.ts';
import { useLive } from '../service/live.ts';
import { type Rows, useOlder } from '../service/older.ts';
import { session } from '../service/session.ts';
import { inFull, t, whenExactly } from '../texts/texts.ts';

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
        <button type="button" class="button" onClick={said(exportAll)}>
          {words.export}
        </button>
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

function Entries({ entries }: { entries: readonly AuditEntry[] }) {
  const { audit: words } = t.value;
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
                        .map(([name, value]) => `${detailOf(name)}: ${saidValue(value)}`)
                        .join(', ')}
                    </div>
                  )}
                </div>
              </td>
              <td data-label={words.object} class="mono small">
                {entry.object}
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

function saidValue(value: unknown): string {
  const { audit: words } = t.value;
  if (typeof value === 'boolean') return value ? words.yes : words.no;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Whether the address is short enough not to wrap: IPv4 is, IPv6 may need two lines. */
function isShort(from: string | null): boolean {
  return from !== null && from.length <= 15;
}

async function exportAll(): Promise<void> {
  const lines: string[] = [];
  for (let before: string | null | undefined; before !== null; ) {
    const page = await call(
      auditPage,
      pathOf(`limit=${BATCH}${before === undefined ? '' : `&before=${before}`}`),
    );
    for (const entry of page.entries) lines.push(JSON.stringify(entry));
    before = page.next;
  }
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([`${lines.join('\n')}\n`], { type: 'application/jsonl' }));
  link.download = 'audit.jsonl';
  link.click();
  URL.revokeObjectURL(link.href);
}
