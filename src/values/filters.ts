/**
 * What a placeholder may do to its field's value: `{{name | filter:argument:… | …}}`.
 *
 * A closed table of pure functions from text to text. There is nothing in it to call, loop or look anything up
 * with, so a template stays data; each step is bounded in length. An empty value stays empty through all but
 * `default`, `equals` and `not`, so that what a record does not have is not made up.
 */

import { LIMITS } from '../contract/limits.ts';
import { because, becauseOf } from '../contract/reason.ts';
import { CHECK_DIGITS } from './check-digits.ts';
import {
  addDays,
  addMonths,
  type CivilTime,
  civilTime,
  datePattern,
  isoText,
  requireZone,
} from './civil-time.ts';
import {
  addDecimals,
  type Decimal,
  decimalText,
  MOST_DIGITS,
  multiplyDecimals,
  parseDecimal,
  roundDecimal,
} from './decimal.ts';
import { FieldFault, SaidFault } from './said-fault.ts';

/** A value that a filter cannot take; the message does not repeat it. */
export class ValueFault extends FieldFault {
  override readonly name = 'ValueFault';
}

/** A filter that the template uses wrongly. */
export class FilterFault extends SaidFault {
  override readonly name = 'FilterFault';
}

/** @param zone the template's time zone @throws ValueFault */
export type Filter = (value: string, zone: string) => string;

interface FilterKind {
  /** Fewest and most arguments. */
  readonly takes: readonly [number, number];
  readonly ofEmpty?: true;
  /** @throws FilterFault */
  readonly compile: (args: readonly string[]) => Filter;
}

const MOST_FILTERS = 10;
const MOST_ARGUMENT = 200;
const MOST_PADDING = 1000;
const TRUE = 'true';

/** What counts as no: in `when`, and for `not`. */
export function isNo(value: string): boolean {
  const text = value.trim().toLowerCase();
  return text === '' || text === 'false' || text === '0';
}

const FILTERS: Readonly<Record<string, FilterKind>> = {
  upper: casing((value, locale) => value.toLocaleUpperCase(locale)),
  lower: casing((value, locale) => value.toLocaleLowerCase(locale)),
  trim: { takes: [0, 0], compile: () => (value) => value.trim() },
  padleft: padding((value, fill) => fill + value),
  padright: padding((value, fill) => value + fill),
  slice: {
    takes: [1, 2],
    compile: ([from = '', to]) => {
      const start = integer(from);
      const end = to === undefined ? undefined : integer(to);
      return (value) => Array.from(value).slice(start, end).join('');
    },
  },
  replace: {
    takes: [2, 2],
    compile: ([what = '', by = '']) => {
      if (what === '') throw new FilterFault(because('filter-replaces-nothing', {}));
      return (value) => value.replaceAll(what, () => by);
    },
  },
  default: {
    takes: [1, 1],
    ofEmpty: true,
    compile:
      ([text = '']) =>
      (value) =>
        value || text,
  },
  equals: {
    takes: [1, 20],
    ofEmpty: true,
    compile: (args) => (value) => (args.includes(value) ? TRUE : ''),
  },
  not: { takes: [0, 0], ofEmpty: true, compile: () => (value) => (isNo(value) ? TRUE : '') },
  number: {
    takes: [1, 3],
    compile: ([places = '', point, group]) => {
      const digits = integer(places, 0, 20);
      return (value) => decimalText(roundDecimal(decimal(value), digits), point, group);
    },
  },
  plus: arithmetic(addDecimals),
  times: arithmetic(multiplyDecimals),
  checkdigit: {
    takes: [1, 1],
    compile: ([kind = '']) => {
      const check = Object.hasOwn(CHECK_DIGITS, kind) ? CHECK_DIGITS[kind] : undefined;
      if (check === undefined) {
        const choices = Object.keys(CHECK_DIGITS).join(', ');
        throw new FilterFault(because('filter-check-digit', { kind, choices }));
      }
      return (value) => {
        const digit = check(value);
        if (digit === undefined) throw new ValueFault(because('no-check-digit', { kind }));
        return value + digit;
      };
    },
  },
  date: {
    takes: [0, 3],
    compile: ([text = 'yyyy-MM-dd', own = '', language = 'en']) => {
      const pattern = datePattern(text);
      if (typeof pattern === 'string') throw new FilterFault(because('filter-date', { pattern }));
      const zone = timeZone(own);
      const locale = languageTag(language);
      return (value, zoneOfTemplate) => {
        const civil = date(value, zone ?? zoneOfTemplate);
        if (pattern.needsTime && civil.time === null) throw new ValueFault(because('date-without-time', {}));
        return pattern.format(civil, locale);
      };
    },
  },
  days: dateStep(addDays),
  months: dateStep(addMonths),
};

function casing(change: (value: string, locale: string | undefined) => string): FilterKind {
  return {
    takes: [0, 1],
    // Without a language, English rules: the same everywhere, not the host's.
    compile: ([language]) => {
      const locale = language === undefined ? 'en' : languageTag(language);
      return (value) => change(value, locale);
    },
  };
}

function padding(join: (value: string, fill: string) => string): FilterKind {
  return {
    takes: [1, 2],
    compile: ([length = '', fill = ' ']) => {
      const wanted = integer(length, 1, MOST_PADDING);
      if (Array.from(fill).length !== 1) throw new FilterFault(because('filter-fill', {}));
      return (value) => join(value, fill.repeat(Math.max(0, wanted - Array.from(value).length)));
    },
  };
}

function arithmetic(operate: (a: Decimal, b: Decimal) => Decimal): FilterKind {
  return {
    takes: [1, 1],
    compile: ([text = '']) => {
      const operand = parseDecimal(text);
      if (operand === null) throw new FilterFault(because('filter-number', { text }));
      return (value) => decimalText(operate(decimal(value), operand));
    },
  };
}

function dateStep(step: (civil: CivilTime, count: number) => CivilTime | null): FilterKind {
  return {
    takes: [1, 2],
    compile: ([text = '', own = '']) => {
      const count = integer(text);
      const zone = timeZone(own);
      return (value, zoneOfTemplate) => {
        const civil = step(date(value, zone ?? zoneOfTemplate), count);
        if (civil === null) throw new ValueFault(because('date-beyond', {}));
        return isoText(civil);
      };
    },
  };
}

function integer(text: string, least = -100_000, most = 100_000): number {
  const value = Number(text);
  if (!/^[+-]?\d+$/.test(text) || value < least || value > most) {
    throw new FilterFault(because('filter-whole-number', { text, least, most }));
  }
  return value;
}

function timeZone(zone: string): string | undefined {
  if (zone === '') return undefined;
  try {
    requireZone(zone);
    return zone;
  } catch {
    throw new FilterFault(because('no-time-zone', { zone }));
  }
}

function languageTag(tag: string): string {
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? 'en';
  } catch {
    throw new FilterFault(because('filter-language', { tag }));
  }
}

function decimal(value: string): Decimal {
  const parsed = parseDecimal(value);
  if (parsed === null) throw new ValueFault(because('not-a-number', { most: MOST_DIGITS }));
  return parsed;
}

function date(value: string, zone: string): CivilTime {
  const civil = civilTime(value, zone);
  if (civil === null) {
    throw new ValueFault(because('not-a-date', {}));
  }
  return civil;
}

/** `name:argument:…`; arguments may be in single or double quotes. */
const PIPE = /\|\s*([A-Za-z][A-Za-z0-9]*)((?:\s*:\s*(?:'[^']*'|"[^"]*"|[^'":|\s]+))*)\s*/y;
const ARGUMENT = /:\s*(?:'([^']*)'|"([^"]*)"|([^'":|\s]+))/g;

/**
 * Compiles what follows the field's name in a placeholder, from its first `|` on; undefined: nothing.
 * @throws FilterFault
 */
export function compileFilters(source: string): Filter | undefined {
  const steps: Filter[] = [];
  for (let at = 0; at < source.length; at = PIPE.lastIndex) {
    PIPE.lastIndex = at;
    const match = PIPE.exec(source);
    if (match === null) {
      const found = JSON.stringify(source.slice(at, at + 30));
      throw new FilterFault(because('filter-expected', { found }));
    }
    if (steps.length === MOST_FILTERS) {
      throw new FilterFault(because('filters-many', { most: MOST_FILTERS }));
    }
    steps.push(compileFilter(match[1] ?? '', match[2] ?? ''));
  }
  if (steps.length === 0) return undefined;
  return (value, zone) => {
    let text = value;
    for (const step of steps) {
      text = step(text, zone);
      if (text.length > LIMITS.valueLength) {
        throw new ValueFault(because('value-too-long', { most: LIMITS.valueLength }));
      }
    }
    return text;
  };
}

function compileFilter(name: string, list: string): Filter {
  const kind = Object.hasOwn(FILTERS, name) ? FILTERS[name] : undefined;
  if (kind === undefined) {
    throw new FilterFault(because('filter-unknown', { name, choices: Object.keys(FILTERS).join(', ') }));
  }
  const args = Array.from(list.matchAll(ARGUMENT), (match) => match[1] ?? match[2] ?? match[3] ?? '');
  const [least, most] = kind.takes;
  if (args.length < least || args.length > most) {
    const takes =
      least === most
        ? because('filter-arguments', { name, count: least })
        : because('filter-arguments-between', { name, least, most });
    throw new FilterFault(takes);
  }
  if (args.some((arg) => arg.length > MOST_ARGUMENT)) {
    throw new FilterFault(because('filter-argument-long', { name, most: MOST_ARGUMENT }));
  }
  let filter: Filter;
  try {
    filter = kind.compile(args);
  } catch (error) {
    if (!(error instanceof FilterFault)) throw error;
    throw new FilterFault(becauseOf('filter-refused', { name }, error.said));
  }
  return kind.ofEmpty ? filter : (value, zone) => (value === '' ? '' : filter(value, zone));
}
