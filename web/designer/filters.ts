/** Filters that the designer can put after a field, with arguments for people to change; and conditions. */

export const FILTERS = [
  'upper',
  'lower',
  'trim',
  'padleft:6:0',
  'slice:0:10',
  "replace:'-':''",
  "default:'-'",
  'number:2',
  'plus:1',
  'checkdigit:gs1',
  'date:dd.MM.yyyy',
  'days:30',
  'months:6',
] as const;

/** Adds a filter to the last placeholder before the caret, or else to the first one; undefined: there is no placeholder. */
export function withFilter(text: string, caret: number, filter: string): string | undefined {
  const found = [...text.matchAll(/\{\{[^{}]*\}\}/g)];
  const own = found.findLast(({ index }) => index < caret) ?? found[0];
  if (own === undefined) return undefined;
  const end = own.index + own[0].length - 2;
  return `${text.slice(0, end).trimEnd()} | ${filter}${text.slice(end)}`;
}

/** What a condition can require of a field. */
export const CONDITIONS = ['filled', 'empty', 'equals'] as const;
type Condition = (typeof CONDITIONS)[number];

/** A condition as the template has it: `{{hazard}}`, `{{paid | not}}` or `{{rh | equals:'NEG'}}`. */
export function conditionOf(field: string, condition: Condition, value: string): string {
  if (condition === 'filled') return `{{${field}}}`;
  if (condition === 'empty') return `{{${field} | not}}`;
  const quote = value.includes("'") ? '"' : "'";
  return `{{${field} | equals:${quote}${value.replaceAll(/[{}]/g, '').replaceAll(quote, '')}${quote}}}`;
}

export function readCondition(
  text: string,
): { field: string; condition: Condition; value: string } | undefined {
  const [, field = '', filter = ''] = /^\{\{([^{}|]+)(?:\|([^{}]*))?\}\}$/.exec(text) ?? [];
  if (field.trim() === '') return undefined;
  const named = { field: field.trim(), value: '' };
  if (filter.trim() === '') return { ...named, condition: 'filled' };
  if (filter.trim() === 'not') return { ...named, condition: 'empty' };
  const [, single, double, plain] = /^equals:(?:'([^']*)'|"([^"]*)"|([^\s'":|]+))$/.exec(filter.trim()) ?? [];
  const value = single ?? double ?? plain;
  return value === undefined ? undefined : { ...named, condition: 'equals', value };
}
