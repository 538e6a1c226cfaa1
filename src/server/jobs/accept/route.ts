/**
 * Finds the printer, agent and format that a request goes to. A printer is found by its ID first, else by its
 * exact name. Where it is not certain which printer is meant, nothing is printed. The printers that requests ask for are
 * kept for a few seconds, with a stamp by which the database can tell whether agents report something else since
 * (`platen.route_stamp` in the migrations).
 */
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { PrinterFormat } from '../../../contract/format.ts';
import type { PrintRequest } from '../../../contract/print-request.ts';
import { because, type Reason } from '../../../contract/reason.ts';
import type { Template } from '../../../contract/template.ts';
import { nearest } from '../../../words/nearest.ts';
import { askedPrinters, otherPrinters, type ScopePrinter } from '../../printers/printers.ts';
import { faultAt, type ProblemError, refusedBecause } from '../../problems.ts';
import { onlyRow, type Queryable } from '../../store/pool.ts';

/** An ID, a name, or both; null: not asked for. */
export type Asked = { id: string | null; name: string | null };
export type Found = {
  byId: ScopePrinter | undefined;
  /** The printers that bear exactly this name now. */
  named: readonly ScopePrinter[];
  /** Where none was found: printers that could have been meant. */
  others: readonly ScopePrinter[];
  stamp: string;
};

export type Route = { printer: ScopePrinter; agentId: string; format: PrinterFormat };

/** What was asked for, at most, that is kept. */
const MOST_KEPT = 2_000;
/** ms for which printers are kept: the stamp does not say which of several agents is online. */
const AGE = 5_000;

/** IDs or names that an error lists at most. */
const LISTED = 20;
/** Characters of such a list: a reason's value has at most 1,000. */
const LONGEST = 900;

const stampRow = z.object({ stamp: z.string() });

export class AskedPrinters {
  readonly #db: Queryable;
  readonly #kept = new LRUCache<string, Found>({ max: MOST_KEPT, ttl: AGE });

  constructor(db: Queryable) {
    this.#db = db;
  }

  /** What `find` found in the last seconds. */
  kept(tenantId: string, asked: Asked): Found | undefined {
    return this.#kept.get(nameOf(tenantId, asked));
  }

  async find(tenantId: string, asked: Asked): Promise<Found> {
    // The stamp is read first: what changes in between is not in it, and shows when the stamp is compared.
    const sql = 'SELECT platen.route_stamp($1, $2, $3) AS stamp';
    const [{ stamp }, printers] = [
      await onlyRow(this.#db, stampRow, sql, [tenantId, asked.id, asked.name]),
      await askedPrinters(this.#db, tenantId, asked),
    ];
    const isFound = printers.byId !== undefined || printers.named.length > 0;
    const others = isFound ? [] : await otherPrinters(this.#db, tenantId);
    const found = { ...printers, others, stamp };
    this.#kept.set(nameOf(tenantId, asked), found);
    return found;
  }
}

function nameOf(tenantId: string, asked: Asked): string {
  return JSON.stringify([tenantId, asked.id, asked.name]);
}

/** What to look for. No ID or name has a NUL or half of a surrogate pair, which PostgreSQL refuses. */
export function askedOf({
  printerId = '',
  printer = '',
}: Pick<PrintRequest, 'printerId' | 'printer'>): Asked {
  const storable = (text: string) =>
    text === '' || text.includes('\0') || !text.isWellFormed() ? null : text;
  return { id: storable(printerId), name: storable(printer) };
}

/** The job as it goes this way. */
export function onWay<Job extends object>(job: Job, { printer, format }: Route) {
  return { ...job, scope: printer.scope, printerId: printer.id, format };
}

/**
 * @param test the job is a test, which may go to a virtual printer only
 * @throws ProblemError `printer-unknown`, `printer-ambiguous`, `printer-unassigned`, `printer-not-virtual`, `format-…`
 */
export function route(request: PrintRequest, found: Found, template: Template, test: boolean): Route {
  const others = test ? found.others.filter(({ virtual }) => virtual) : found.others;
  const printer = chosen(request, { ...found, others });
  const [agent] = printer.agents;
  const field = request.printerId === printer.id ? 'printerId' : 'printer';
  if (agent === undefined) {
    throw refusal(
      'printer-unassigned',
      field,
      because('printer-no-agent', { printer: printer.id }),
      request[field],
    );
  }
  if (test && !printer.virtual) {
    throw refusal('printer-not-virtual', field, because('printer-real', {}), request[field]);
  }
  return { printer, agentId: agent.id, format: chooseFormat(printer, request.format, template) };
}

function chosen(request: PrintRequest, { byId, named, others }: Found): ScopePrinter {
  if (byId !== undefined) return byId;
  const [first, second] = named;
  if (request.printer === undefined) {
    const choices = candidates(request.printerId, others);
    const reason = choices === '' ? because('printer-no-id', {}) : because('printer-no-id-of', { choices });
    throw refusal('printer-unknown', 'printerId', reason, request.printerId);
  }
  if (first === undefined) {
    const choices = candidates(request.printer, others);
    const reason =
      choices === '' ? because('printer-no-name', {}) : because('printer-no-name-of', { choices });
    throw refusal('printer-unknown', 'printer', reason, request.printer);
  }
  if (second !== undefined) {
    const ids = listed(named.map((one) => one.id));
    throw refusal(
      'printer-ambiguous',
      'printer',
      because('printer-names', { choices: ids }),
      request.printer,
    );
  }
  return first;
}

/** The wanted format by ID, else by name; if none is wanted, the printer's first that fits the template. */
function chooseFormat(printer: ScopePrinter, wanted: string | undefined, template: Template): PrinterFormat {
  const fits = (format: PrinterFormat) => template.language !== 'zpl' || format.language === 'zpl';
  const { formats } = printer;
  if (wanted === undefined) {
    const format = formats.find(fits);
    if (format !== undefined) return format;
    throw refusal('format-incompatible', 'format', because('format-zpl-printer', {}));
  }
  const byName = formats.filter((format) => format.name === wanted);
  const format = formats.find((one) => one.id === wanted) ?? byName[0];
  if (format === undefined) {
    const names = listed(formats.map((one) => JSON.stringify(one.name)));
    throw refusal(
      'format-unknown',
      'format',
      because('format-none', { printer: printer.id, choices: names }),
      wanted,
    );
  }
  if (format.id !== wanted && byName.length > 1) {
    const ids = listed(byName.map((one) => one.id));
    throw refusal('format-ambiguous', 'format', because('format-names', { choices: ids }), wanted);
  }
  if (!fits(format)) {
    throw refusal('format-incompatible', 'format', because('format-zpl', {}), wanted);
  }
  return format;
}

/** Names and IDs; first the printer whose name or ID looks most like what was asked for. */
function candidates(wanted = '', others: readonly ScopePrinter[]): string {
  const names = others.flatMap(({ id, name }) => [id, name]);
  const meant = nearest(wanted, names);
  const isMeant = ({ id, name }: ScopePrinter) => [id, name].includes(meant ?? '');
  const ordered = [...others.filter(isMeant), ...others.filter((one) => !isMeant(one))];
  return listed(ordered.map(({ id, name }) => `${JSON.stringify(name)} (${id})`));
}

function listed(items: readonly string[]): string {
  let text = '';
  for (const [index, item] of items.entries()) {
    const more = index === 0 ? item : `, ${item}`;
    if (index >= LISTED || text.length + more.length > LONGEST) return `${text}, …`;
    text += more;
  }
  return text;
}

function refusal(
  code:
    | 'printer-unknown'
    | 'printer-ambiguous'
    | 'printer-unassigned'
    | 'printer-not-virtual'
    | 'format-unknown'
    | 'format-ambiguous'
    | 'format-incompatible',
  field: 'printerId' | 'printer' | 'format',
  reason: Reason,
  value?: string | undefined,
): ProblemError {
  return refusedBecause(code, reason, { errors: [faultAt(`/${field}`, reason, value)] });
}
