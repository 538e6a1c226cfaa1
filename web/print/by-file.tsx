/** Prints labels from a file: maps its columns to fields, has every row checked, and sends one job. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { guessMapping, type Mapping, recordsOf, type Table } from '../../src/tables/table.ts';
import { kept } from '../address/kept.ts';
import { ChoiceField } from '../controls/field.tsx';
import { FileField } from '../controls/file-field.tsx';
import { Problem } from '../controls/problem.tsx';
import { reasonWords } from '../controls/reason-words.ts';
import { errorOf } from '../service/call.ts';
import { newestOf } from '../service/newest.ts';
import type { FieldFacts } from '../templates/saved-template.ts';
import { t } from '../texts/texts.ts';
import { LabelPreview, refusedOf, useLabel } from './label-preview.tsx';
import { requestOf, type Sending, send, tooMany } from './request.ts';
import { type Checked, checkRows } from './row-check.ts';
import { readFile, SHEET_FILES, SheetFileError } from './sheet-file.ts';

type ByFileProps = Sending & { fields: readonly FieldFacts[] };

/** At most this many bad rows are listed. */
const MOST = 20;

export function ByFile({ fields, route, ready, attempts, agrees, onSent }: ByFileProps) {
  const { print: words } = t.value;
  const table = useSignal<Table | undefined>(undefined);
  // Counts the files. The rows of another file must be checked anew, even if its columns have the same names.
  const turn = useSignal(0);
  const read = useMemo(() => newestOf(readFile), []);
  const mapping = useSignal<Mapping>({});
  const problem = useSignal<Error | undefined>(undefined);
  const names = fields.map(({ name }) => name);
  const take = async (file: File) => {
    problem.value = undefined;
    table.value = undefined;
    turn.value += 1;
    try {
      const found = await read(file);
      if (found === undefined) return;
      mapping.value = { ...guessMapping(names, found.columns), ...remembered(route.idT, found.columns) };
      table.value = found;
    } catch (error) {
      const tooLarge = error instanceof SheetFileError && error.fault === 'too-large';
      problem.value = new Error(tooLarge ? words.fileTooLarge : words.notCsv);
    }
  };
  return (
    <div class="stack wide">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping a file is only a second way, beside the field within */}
      <div
        class="card"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          const file = event.dataTransfer?.files[0];
          if (file !== undefined) void take(file);
        }}
      >
        <FileField
          label={words.drop}
          hint={words.fileHint}
          accept={SHEET_FILES}
          onFile={(file) => void take(file)}
        />
      </div>
      {problem.value !== undefined && <Problem problem={problem.value} />}
      {table.value !== undefined && (
        <Rows
          key={turn.value}
          fields={fields}
          table={table.value}
          mapping={mapping.value}
          onMapping={(next) => {
            mapping.value = next;
            remember(route.idT, next);
          }}
          route={route}
          ready={ready}
          attempts={attempts}
          agrees={agrees}
          onSent={onSent}
        />
      )}
    </div>
  );
}

/** Which columns filled the template's fields the last time, at this workstation. */
function memory(template: string) {
  return kept(`columns.${template}`);
}

function remember(template: string, mapping: Mapping): void {
  memory(template).keep(JSON.stringify(Object.entries(mapping)));
}

function remembered(template: string, columns: readonly string[]): Mapping {
  try {
    const pairs: unknown = JSON.parse(memory(template).value || '[]');
    const known = Array.isArray(pairs) ? pairs : [];
    return Object.fromEntries(
      known.flatMap((pair: unknown) =>
        Array.isArray(pair) && columns.includes(String(pair[1])) ? [[String(pair[0]), String(pair[1])]] : [],
      ),
    );
  } catch {
    return {};
  }
}

type RowsProps = ByFileProps & {
  table: Table;
  mapping: Mapping;
  onMapping: (mapping: Mapping) => void;
};

function Rows({ fields, table, mapping, onMapping, route, ready, attempts, agrees, onSent }: RowsProps) {
  const { print: words } = t.value;
  const shown = useSignal(0);
  const records = recordsOf(fields, table, mapping);
  const drawn = useLabel(route, records[shown.value]);
  const beyond = tooMany(records.length, route);
  const move = (step: number) => () => {
    shown.value = Math.min(Math.max(shown.value + step, 0), records.length - 1);
  };
  return (
    <div class="split">
      <div class="stack wide">
        <section class="card stack">
          <div>
            <h2>{words.columns}</h2>
            <p class="muted small">
              {words.columnsHint} {words.rows(table.rows.length)}.
            </p>
          </div>
          {fields.map(({ name: field, caption }) => (
            <ChoiceField
              key={field}
              label={caption === field ? field : `${caption} (${field})`}
              value={mapping[field] ?? ''}
              options={[
                { value: '', words: words.leaveEmpty },
                ...table.columns.map((column) => ({ value: column, words: column })),
              ]}
              onChoice={(column) => {
                const { [field]: _, ...rest } = mapping;
                onMapping(column === '' ? rest : { ...rest, [field]: column });
              }}
            />
          ))}
        </section>
        {beyond !== undefined ? (
          <div class="note bad">
            {reasonWords(beyond)}. {words.splitFile}
          </div>
        ) : (
          <Checking
            key={JSON.stringify([route, mapping])}
            records={records}
            numbers={table.numbers}
            route={route}
            ready={ready}
            attempts={attempts}
            agrees={agrees}
            onSent={onSent}
            onShow={(row) => {
              shown.value = row;
            }}
          />
        )}
      </div>
      <div class="stack tight">
        <LabelPreview drawn={drawn} wrong={refusedOf(drawn)} />
        <div class="row">
          <button
            type="button"
            class="button"
            aria-label={words.previous}
            disabled={shown.value === 0}
            onClick={move(-1)}
          >
            ←
          </button>
          <span class="numbers">{words.row(table.numbers[shown.value] ?? 0)}</span>
          <button
            type="button"
            class="button"
            aria-label={words.next}
            disabled={shown.value >= records.length - 1}
            onClick={move(1)}
          >
            →
          </button>
        </div>
      </div>
    </div>
  );
}

type CheckingProps = Sending & {
  records: readonly Record<string, string>[];
  /** The number that each row has in the file. */
  numbers: readonly number[];
  onShow: (row: number) => void;
};

/** Has every record checked, says which of them cannot be printed, and prints the others. */
export function Checking({
  records,
  numbers,
  route,
  ready,
  attempts,
  agrees,
  onSent,
  onShow,
}: CheckingProps) {
  const { print: words } = t.value;
  const done = useSignal<number | null>(null);
  const checked = useSignal<Checked | undefined>(undefined);
  const problem = useSignal<Error | undefined>(undefined);
  const busy = useSignal(false);
  const stop = useSignal(new AbortController());
  useEffect(() => () => stop.value.abort(), [stop]);
  const said = async (work: () => Promise<void>) => {
    problem.value = undefined;
    try {
      await work();
    } catch (error) {
      if (!stop.value.signal.aborted) problem.value = errorOf(error);
    }
  };
  const check = () =>
    said(async () => {
      done.value = 0;
      try {
        const { signal } = stop.value;
        const onProgress = (count: number) => {
          done.value = count;
        };
        checked.value = await checkRows(requestOf(route, undefined), records, { onProgress, signal });
      } finally {
        done.value = null;
      }
    });
  const print = (rows: readonly Record<string, string>[]) =>
    said(async () => {
      if (!(await agrees())) return;
      busy.value = true;
      try {
        onSent(await send(route, rows, attempts));
      } finally {
        busy.value = false;
      }
    });
  const bad = checked.value?.bad ?? [];
  const badRows = new Set(bad.map(({ row }) => row));
  const good = records.filter((_, row) => !badRows.has(row));
  const copies = route.numberCopies ?? 1;
  return (
    <section class="stack tight" aria-live="polite">
      {checked.value === undefined && (
        <div class="row">
          <button
            type="button"
            class="button primary"
            disabled={!ready || done.value !== null}
            onClick={() => void check()}
          >
            {done.value === null ? words.check : words.checking(done.value, records.length)}
          </button>
        </div>
      )}
      {checked.value !== undefined && bad.length === 0 && (
        <>
          <div class="note good">{words.noFault(records.length)}</div>
          <div class="row">
            <button
              type="button"
              class="button primary"
              disabled={!ready || busy.value}
              onClick={() => void print(records)}
            >
              {words.print(records.length * copies)}
            </button>
          </div>
        </>
      )}
      {bad.length > 0 && (
        <>
          <div class="note bad">
            <strong>{words.bad(bad.length)}</strong>
            <ul class="small">
              {bad.slice(0, MOST).map(({ row, detail }) => (
                <li key={row}>
                  <button type="button" class="link" onClick={() => onShow(row)}>
                    {words.row(numbers[row] ?? 0)}
                  </button>
                  : {detail}
                </li>
              ))}
              {bad.length > MOST && <li>…</li>}
            </ul>
          </div>
          {good.length > 0 && (
            <div class="row">
              <button
                type="button"
                class="button"
                disabled={!ready || busy.value}
                onClick={() => void print(good)}
              >
                {words.withoutBad(good.length)}
              </button>
            </div>
          )}
        </>
      )}
      {checked.value !== undefined && checked.value.warnings.length > 0 && (
        <div class="note warn small">
          <strong>{words.warning}</strong>
          {checked.value.warnings.slice(0, MOST).map((text) => (
            <p key={text}>{text}</p>
          ))}
        </div>
      )}
      {problem.value !== undefined && <Problem problem={problem.value} />}
      {attempts.doubt.value && <div class="note warn">{words.maybeQueued}</div>}
    </section>
  );
}
