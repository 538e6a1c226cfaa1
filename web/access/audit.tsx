/** Who did what, when and from where; the newest first. */
import { useSignal } from '@preact/signals';
import { type AuditEntry, auditPage } from '../../src/contract/people.ts';
import { Empty, Page, Shown } from '../controls/page.tsx';
import { wordsOf } from '../controls/problem.tsx';
import { say } from '../controls/toast.tsx';
import { call } from '../service/call.ts';
import { useLive } from '../service/live.ts';
import { session } from '../service/session.ts';
import { inFull, t, whenExactly } from '../texts/texts.ts';

/** Entries of one request of an export. */
const BATCH = 1_000;

const pathOf = (query: string) =>
  `/audit?tenant=${encodeURIComponent(session.value?.tenant.id ?? '')}${query === '' ? '' : `&${query}`}`;

export function Audit() {
  const { audit: words, general } = t.value;
  const { live, reload } = useLive(auditPage, pathOf(''));
  const older = useSignal<readonly AuditEntry[]>([]);
  const next = useSignal<string | null | undefined>(undefined);
  const after = next.value === undefined ? (live.data?.next ?? null) : next.value;
  const said = (work: () => Promise<void>) => () => {
    work().catch((error: unknown) => say(error instanceof Error ? wordsOf(error) : String(error), true));
  };
  const load = said(async () => {
    const page = await call(auditPage, pathOf(`before=${after ?? ''}`));
    older.value = [...older.value, ...page.entries];
    next.value = page.next;
  });
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
          {(page) => {
            if (page.entries.length === 0) return <Empty icon="audit" title={words.empty} />;
            const known = new Set(older.value.map(({ id }) => id));
            return (
              <>
                <Entries entries={[...page.entries.filter(({ id }) => !known.has(id)), ...older.value]} />
                {after !== null && (
                  <div class="row">
                    <button type="button" class="button" onClick={load}>
                      {general.older}
                    </button>
                  </div>
                )}
              </>
            );
          }}
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
