/** Words for what the audit says. */
import { codeWords, t } from '../texts/texts.ts';
import { scopeWords } from './scope-words.ts';

/** The present names of things, by their IDs. */
export type Names = ReadonlyMap<string, string>;

type Words = Readonly<Record<string, string>>;

/** Details whose values are IDs of things that have names. */
const IDS: readonly string[] = ['printerId', 'printers'];

/** The deed in words. */
export function deedOf(what: string): string {
  return codeWords(t.value.audit.deeds, what);
}

/** The name of a detail. */
export function detailOf(name: string): string {
  return codeWords({ ...t.value.printers.settingNames, ...t.value.audit.details }, name);
}

/** @param names for IDs among the values */
export function saidValue(name: string, value: unknown, names: Names): string {
  const { audit: words, general, integrations, webhooks } = t.value;
  if (value === null) return general.none;
  if (name === 'oldForHours') {
    const spans: Words = integrations.oldUntil;
    return spans[String(value)] ?? words.hours(Number(value));
  }
  if (typeof value === 'string') {
    if (name === 'scope') return scopeWords(value);
    if (name === 'events') {
      const events = value.split(' ').map((one) => codeWords(webhooks.eventWords, one));
      return new Intl.ListFormat(t.value.locale).format(events);
    }
    const called = IDS.includes(name) ? names.get(value) : undefined;
    return called ?? codeWords(valuesOf(name), value);
  }
  if (typeof value === 'boolean') return value ? words.yes : words.no;
  if (typeof value === 'object') {
    const all = Array.isArray(value)
      ? value.map((one: unknown) => [name, one] as const)
      : Object.entries(value);
    return all.length === 0 ? general.none : all.map(([of, one]) => saidValue(of, one, names)).join(', ');
  }
  return typeof value === 'number' ? value.toLocaleString(t.value.locale) : String(value);
}

/** Words for the values that a detail may have. */
function valuesOf(name: string): Words {
  const { audit, people, printers } = t.value;
  const others: Readonly<Record<string, Words>> = {
    ...audit.values,
    role: people.roles,
    faults: printers.virtual.faults,
    mediaTracking: printers.setting,
    printMode: printers.setting,
    thermalMode: printers.setting,
  };
  return others[name] ?? {};
}
