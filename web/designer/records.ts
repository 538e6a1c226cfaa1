/** The values with which the label is shown: samples of its fields, none, typed ones, or a row of a file. */
import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { LabelRecord } from '../../src/contract/print-request.ts';
import { guessMapping, recordsOf, type Table } from '../../src/tables/table.ts';
import type { LabelDocument } from './document.ts';

export const SOURCES = ['samples', 'empty', 'own', 'file'] as const;
type Source = (typeof SOURCES)[number];

export class Records {
  readonly source = signal<Source>('samples');
  readonly own = signal<LabelRecord>({});
  readonly table = signal<Table | undefined>(undefined);
  /** The row of the file, counted from 0. */
  readonly row = signal(0);
  readonly #fields: ReadonlySignal<NonNullable<LabelDocument['fields']>>;

  constructor(fields: ReadonlySignal<NonNullable<LabelDocument['fields']>>) {
    this.#fields = fields;
  }

  /** undefined: the samples of the fields. */
  readonly record = computed<LabelRecord | undefined>(() => {
    const fields = this.#fields.value;
    switch (this.source.value) {
      case 'samples':
        return undefined;
      case 'empty':
        // `null` counts as a missing value, for which the default is printed.
        return Object.fromEntries(fields.map(({ name }) => [name, null]));
      case 'own':
        return this.own.value;
      case 'file':
        return this.rows.value[this.row.value];
    }
  });

  /** The rows of the file as records. A column fills the field that has its name. */
  readonly rows = computed<readonly LabelRecord[]>(() => {
    const table = this.table.value;
    const fields = this.#fields.value;
    const names = fields.map(({ name }) => name);
    return table === undefined ? [] : recordsOf(fields, table, guessMapping(names, table.columns));
  });

  /** Fields for which no column has their name. */
  readonly missing = computed<readonly string[]>(() => {
    const table = this.table.value;
    const names = this.#fields.value.map(({ name }) => name);
    const found = table === undefined ? {} : guessMapping(names, table.columns);
    return names.filter((name) => found[name] === undefined);
  });

  choose(source: Source): void {
    if (source === 'own' && Object.keys(this.own.value).length === 0) {
      this.own.value = Object.fromEntries(this.#fields.value.map(({ name, sample }) => [name, sample ?? '']));
    }
    this.source.value = source;
  }

  open(table: Table): void {
    this.table.value = table;
    this.row.value = 0;
  }

  /** Moves on or back by `by` rows, but not beyond the last or the first. */
  step(by: number): void {
    this.go(this.row.value + by);
  }

  go(row: number): void {
    this.row.value = Math.max(0, Math.min(Math.trunc(row) || 0, this.rows.value.length - 1));
  }
}
