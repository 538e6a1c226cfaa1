/**
 * Derives the kind of each field from how its template uses it, so that nobody has to declare it. The kind
 * only decides with which control a value is typed; the service decides whether the value is valid.
 */
import {
  type DesignedTemplate,
  documentField,
  type Symbology,
  type Template,
  template,
} from '../../src/contract/template.ts';
import { formatOf } from '../templates/gs1-identifiers.ts';

export type FieldKind =
  | { readonly kind: 'text' }
  | { readonly kind: 'lines' }
  | { readonly kind: 'date'; readonly time: boolean }
  /** A code of `least` to `most` digits, in which leading zeros count. */
  | { readonly kind: 'digits'; readonly least?: number; readonly most?: number }
  | { readonly kind: 'number' }
  /** Only these values print anything. */
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  /** These values have a special effect; any other value is printed, too. */
  | { readonly kind: 'suggested'; readonly values: readonly string[] }
  /** It matters only whether the value is empty. */
  | { readonly kind: 'yes-no' }
  /** A file, in base64. */
  | { readonly kind: 'document' };

type Filter = { readonly name: string; readonly args: readonly string[] };
type Use = {
  readonly field: string;
  readonly filters: readonly Filter[];
  readonly place: 'condition' | 'picture' | 'text' | 'wrapped' | 'code' | 'elsewhere';
  /** What the value may be, as far as its place in the template says. */
  readonly digits?: Span | undefined;
  readonly names?: readonly string[];
};
type Span = { readonly least?: number; readonly most?: number };

const PLACEHOLDER = /\{\{([^{}|]+)(\|[^{}]*)?\}\}/g;
const FILTER = /\|\s*([A-Za-z][A-Za-z0-9]*)((?:\s*:\s*(?:'[^']*'|"[^"]*"|[^'":|\s]+))*)\s*/g;
const ARGUMENT = /:\s*(?:'([^']*)'|"([^"]*)"|([^'":|\s]+))/g;
const DAY = /^\d{4}-\d\d-\d\d/;
/** Letters in a date pattern that stand for a time of day. Quoted text, in square brackets, is removed before this test. */
const CLOCK = /[Hhmsa]/;

/** The symbologies that take only digits, and how many they take; `{}`: any number. */
const DIGITS: Partial<Record<Symbology, Span>> = {
  ean13: { least: 12, most: 13 },
  ean8: { least: 7, most: 8 },
  upca: { least: 11, most: 12 },
  upce: { least: 6, most: 8 },
  itf14: { least: 13, most: 14 },
  leitcode: { least: 13, most: 14 },
  identcode: { least: 11, most: 12 },
  itf: {},
  msi: {},
  pharmacode: {},
  postnet: {},
  planet: {},
};

/** @returns the kinds, by field name; a field that is not in the map is text */
export function fieldKinds(body: unknown): ReadonlyMap<string, FieldKind> {
  const { data } = template.safeParse(body);
  if (data === undefined) return new Map();
  const document = documentField(data);
  if (document !== undefined) return new Map([[document, { kind: 'document' }]]);
  const uses = Map.groupBy(usesIn(data), ({ field }) => field);
  const declared = new Map(data.fields.map((field) => [field.name, field]));
  return new Map(
    [...uses].map(([name, own]) => {
      const { sample = '', default: usual = '' } = declared.get(name) ?? {};
      const said = [sample, usual].filter((text) => text !== '');
      const kind = kindOf(own, said);
      // Whoever drew the label chose samples and defaults: if they do not fit a kind, the kind is wrong.
      return [name, said.every((text) => fits(kind, text)) ? kind : { kind: 'text' }];
    }),
  );
}

function usesIn(data: Template): Use[] {
  if (data.language === 'zpl') return usesOf(data.source, 'elsewhere');
  return data.language === 'document' ? [] : data.elements.flatMap((element) => usesBy(element, data));
}

function usesBy(element: DesignedTemplate['elements'][number], { images }: DesignedTemplate): Use[] {
  const conditions = usesOf(element.when ?? '', 'condition');
  if (element.type === 'text') {
    const lines = element.overflow === 'wrap' && element.maxLines !== 1;
    return [...conditions, ...usesOf(element.text, lines ? 'wrapped' : 'text')];
  }
  if (element.type === 'barcode') {
    return [...conditions, ...usesOf(element.value, 'code', element.symbology)];
  }
  if (element.type !== 'image' || element.image === undefined) return conditions;
  const names = images.map(({ name }) => name);
  const whole = /^\{\{[^{}|]+\}\}$/.test(element.image);
  return [...conditions, ...usesOf(element.image, 'picture').map((use) => (whole ? { ...use, names } : use))];
}

function usesOf(text: string, place: Use['place'], symbology?: Symbology): Use[] {
  return Array.from(text.matchAll(PLACEHOLDER), ({ 0: all, 1: name = '', 2: list = '', index }) => {
    const filters = filtersIn(list);
    const before = text.slice(0, index);
    const after = text.slice(index + all.length);
    const span = symbology === undefined ? undefined : spanOf(before, after, symbology);
    return { field: name.trim(), filters, place, digits: span && typedOf(span, filters) };
  }).filter(({ field }) => !field.startsWith('$'));
}

/** The filters of a placeholder that restrict what can be typed. */
function filtersIn(text: string): Filter[] {
  const all = Array.from(text.matchAll(FILTER), ([, name = '', list = '']) => ({
    name,
    args: Array.from(list.matchAll(ARGUMENT), ([, one, two, three]) => one ?? two ?? three ?? ''),
  }));
  return all.filter(({ name }) => name !== 'trim' && name !== 'default');
}

/** How many digits fill a placeholder, if it is the whole code or the whole data of one application identifier. */
function spanOf(before: string, after: string, symbology: Symbology): Span | undefined {
  if (before === '' && after === '') return DIGITS[symbology];
  const [, ai = ''] = /\((\d{2,4})\)$/.exec(before) ?? [];
  const format = after === '' || after.startsWith('(') ? formatOf(ai) : undefined;
  if (format?.kind === 'digits') return { least: format.length, most: format.length };
  return format?.kind === 'upTo' ? { least: 1, most: format.length } : undefined;
}

/** How many of the digits are left to type, because filters add a check digit or leading zeros. */
function typedOf(span: Span, [first, second, ...more]: readonly Filter[]): Span | undefined {
  if (first === undefined) return span;
  const checked = (second ?? first).name === 'checkdigit';
  if (first.name === 'padleft' && first.args[1] === '0' && (second === undefined || checked)) {
    return more.length === 0 ? { least: 1, most: Number(first.args[0]) } : undefined;
  }
  if (!checked || second !== undefined || span.most === undefined) return undefined;
  return { least: span.most - 1, most: span.most - 1 };
}

function kindOf(uses: readonly Use[], said: readonly string[]): FieldKind {
  const dated = uses.flatMap(({ filters }) => (isDate(filters[0]) ? [filters] : []));
  if (dated.length > 0) {
    return { kind: 'date', time: said.some((text) => text.length > 10) || dated.some(needsTime) };
  }
  const digits = uses.find((use) => use.digits !== undefined)?.digits;
  if (digits !== undefined) return { kind: 'digits', ...digits };
  const names = uses.find((use) => use.names !== undefined)?.names;
  if (names !== undefined && names.length > 0) return { kind: 'choice', values: names };
  if (uses.some(({ filters: [first] }) => /^(?:number|plus|times)$/.test(first?.name ?? ''))) {
    return { kind: 'number' };
  }
  const asked = uses.filter(({ place }) => place === 'condition');
  const values = [...new Set(asked.flatMap(({ filters }) => comparedTo(filters)))];
  if (asked.length === uses.length) {
    // Other filters change the value before it is compared, so other values may print something, too.
    if (!asked.every(({ filters }) => filters.every(({ name }) => name === 'equals' || name === 'not'))) {
      return values.length === 0 ? { kind: 'text' } : { kind: 'suggested', values };
    }
    const all = [...new Set([...values, ...said])];
    return values.length === 0 ? { kind: 'yes-no' } : { kind: 'choice', values: all };
  }
  if (values.length > 0) return { kind: 'suggested', values };
  const printed = uses.filter(({ place }) => place !== 'condition');
  const lines = said.some((text) => text.includes('\n')) || printed.every(({ place }) => place === 'wrapped');
  return { kind: lines ? 'lines' : 'text' };
}

function isDate(filter: Filter | undefined): boolean {
  return /^(?:date|days|months)$/.test(filter?.name ?? '');
}

function needsTime(filters: readonly Filter[]): boolean {
  return filters.some(
    ({ name, args: [pattern = ''] }) => name === 'date' && CLOCK.test(pattern.replaceAll(/\[[^[\]]*\]/g, '')),
  );
}

function comparedTo(filters: readonly Filter[]): readonly string[] {
  const [first] = filters;
  return first?.name === 'equals' ? first.args.filter((value) => value !== '') : [];
}

function fits(kind: FieldKind, text: string): boolean {
  if (kind.kind === 'date') return DAY.test(text);
  if (kind.kind === 'digits') return /^\d+$/.test(text);
  if (kind.kind === 'number') return /^[-+]?[\d.]+$/.test(text);
  return kind.kind !== 'choice' || kind.values.includes(text);
}
