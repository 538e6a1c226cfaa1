/** A table whose rows become cards on a narrow screen, where each cell has its column's name beside it. */
import type { ComponentChildren } from 'preact';
import { t } from '../texts/texts.ts';
import { Menu, type MenuItem } from './menu.tsx';

type Column<Row> = {
  title: string;
  cell: (row: Row) => ComponentChildren;
  /** The cell says what the row is about: it is the first line of the card, without the column's name. */
  lead?: boolean;
  /** The cell's class. */
  look?: string | ((row: Row) => string);
};

type CardTableProps<Row> = {
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
  columns: readonly Column<Row>[];
  /** What can be done with a row, in a last column. `about` names the row for screen readers. */
  menu?: (row: Row) => { about: string; items: readonly MenuItem[] };
};

export function CardTable<Row>({ rows, keyOf, columns, menu }: CardTableProps<Row>) {
  const lookOf = ({ look, lead }: Column<Row>, row: Row) =>
    lead ? 'lead' : typeof look === 'function' ? look(row) : look;
  return (
    <div class="card flush">
      <table class="cards">
        <thead>
          <tr>
            {columns.map(({ title }) => (
              <th key={title}>{title}</th>
            ))}
            {menu !== undefined && (
              <th>
                <span class="unseen">{t.value.general.more}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td
                  key={column.title}
                  class={lookOf(column, row)}
                  data-label={column.lead ? undefined : column.title}
                >
                  {column.cell(row)}
                </td>
              ))}
              {menu !== undefined && (
                <td class="right deeds">
                  <Menu {...menu(row)} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
