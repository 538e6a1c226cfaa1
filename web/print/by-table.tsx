/** Prints labels from a table with a row for each label. Values are typed, or pasted from a spreadsheet. */
import { type Signal, useSignal } from '@preact/signals';
import { recordOf } from '../../src/tables/table.ts';
import { reasonWords } from '../controls/reason-words.ts';
import { sets } from '../controls/sets.ts';
import type { FieldFacts } from '../templates/saved-template.ts';
import { t } from '../texts/texts.ts';
import { Checking } from './by-file.tsx';
import { LabelPreview, refusedOf, useLabel } from './label-preview.tsx';
import { type Sending, tooMany } from './request.ts';

type Cells = readonly (readonly string[])[];

type ByTableProps = Sending & {
  fields: readonly FieldFacts[];
  /** Outlives the table, so that nothing is lost when somebody looks at another way to print. */
  cells: Signal<Cells>;
};

/** How many rows there are at first, and at most; whoever has more can print from a file. */
const [FIRST, MOST] = [3, 500];

const isEmpty = (row: readonly string[]) => row.every((text) => text.trim() === '');

/** Reads what a spreadsheet program copies: a line for each row, with tabs between the cells. */
function pasted(text: string): string[][] {
  return text
    .replace(/\r?\n$/, '')
    .split(/\r?\n/)
    .map((line) => line.split('\t'));
}

export function ByTable({ fields, cells, route, ...rest }: ByTableProps) {
  const { print: words } = t.value;
  const shown = useSignal(0);
  /** How many rows there would be with the pasted ones, if that is too many; else 0. */
  const refused = useSignal(0);
  const blank = fields.map(() => '');
  const last = cells.value.findLastIndex((row) => !isEmpty(row));
  // There is always an empty row in which to go on.
  const count = Math.min(MOST, Math.max(FIRST, last + 2));
  const rows = Array.from({ length: count }, (_, at) => cells.value[at] ?? blank);
  const filled = rows.flatMap((row, at) => (isEmpty(row) ? [] : [{ row, number: at + 1 }]));
  const records = filled.map(({ row }) =>
    recordOf(fields, (name) => row[fields.findIndex((one) => one.name === name)] ?? ''),
  );
  const place = filled.findIndex(({ number }) => number === shown.value + 1);
  const drawn = useLabel(route, records[place]);
  const beyond = tooMany(records.length, route);
  const put = (row: number, column: number, block: readonly (readonly string[])[]) => {
    const next = Array.from({ length: Math.min(MOST, Math.max(count, row + block.length)) }, (_, at) => [
      ...(cells.value[at] ?? blank),
    ]);
    block.forEach((line, down) => {
      line.forEach((text, across) => {
        const cell = next[row + down];
        if (cell !== undefined && column + across < fields.length) cell[column + across] = text;
      });
    });
    cells.value = next;
    refused.value = 0;
  };
  const paste = (row: number, column: number) => (event: ClipboardEvent) => {
    const block = pasted(event.clipboardData?.getData('text/plain') ?? '');
    if (block.length === 1 && block[0]?.length === 1) return;
    event.preventDefault();
    const end = row + block.findLastIndex((line) => !isEmpty(line)) + 1;
    // The list is taken as a whole or not at all: whoever pastes one does not count its rows, and would miss none.
    if (end > MOST) refused.value = end;
    else put(row, column, block);
  };
  return (
    <div class="split">
      <div class="stack wide">
        <section class="card stack tight">
          <p class="muted small">{words.tableHint}</p>
          <div class="table-scroll">
            <table class="typed-table" aria-label={words.values}>
              <thead>
                <tr>
                  <th>
                    <span class="unseen">{words.rowNumber}</span>
                  </th>
                  {fields.map(({ name, caption }) => (
                    <th key={name} scope="col">
                      {caption}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {rows.map((row, at) => (
                  <tr key={at}>
                    <th scope="row" class="numbers">
                      {at + 1}
                    </th>
                    {fields.map(({ name, caption, sample }, column) => (
                      <td key={name}>
                        <input
                          type="text"
                          class="input"
                          autocomplete="off"
                          aria-label={words.cell(caption, at + 1)}
                          placeholder={at === 0 ? sample : undefined}
                          value={row[column] ?? ''}
                          onFocus={sets(shown, at)}
                          onPaste={paste(at, column)}
                          onInput={({ currentTarget }) => put(at, column, [[currentTarget.value]])}
                        />
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </section>
        {refused.value > 0 && (
          <div class="note bad" role="alert">
            {words.tableFull(refused.value, MOST)}
          </div>
        )}
        {beyond !== undefined && <div class="note bad">{reasonWords(beyond)}</div>}
        {beyond === undefined && records.length > 0 && (
          <Checking
            key={JSON.stringify([route, records])}
            records={records}
            numbers={filled.map(({ number }) => number)}
            route={route}
            {...rest}
            onShow={(record) => {
              shown.value = (filled[record]?.number ?? 1) - 1;
            }}
          />
        )}
      </div>
      <LabelPreview drawn={drawn} samples={place < 0} wrong={place < 0 ? [] : refusedOf(drawn)} />
    </div>
  );
}
