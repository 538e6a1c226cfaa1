/** `platen printer set`: settings as they are typed, and as they are shown. */
import {
  admits,
  expectation,
  type PrintSettings,
  printSettings,
  type SettingName,
  settingName,
} from '../contract/print-settings.ts';
import type { PrinterDetails } from '../contract/printer-actions.ts';
import { reasonText } from '../contract/reason.ts';
import { nearest } from '../words/nearest.ts';
import { CommandFailure } from './failure.ts';

const NAMES = new Map(settingName.options.map((name) => [typedName(name), name]));

/** `label-top` */
function typedName(name: SettingName): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/**
 * The printer's settings with these changes, each like `darkness=18`, or `darkness=` to unset a setting.
 * @throws CommandFailure for an unknown setting, or a value that the printer does not take
 */
export function changed({ settings, limits }: PrinterDetails, changes: readonly string[]): PrintSettings {
  const values: Partial<Record<SettingName, string | number | undefined>> = { ...settings };
  for (const change of changes) {
    const at = change.indexOf('=');
    const typed = at < 0 ? change : change.slice(0, at);
    const name = NAMES.get(typed);
    if (at < 0 || name === undefined) throw new CommandFailure(noSetting(change, typed, at >= 0));
    const text = change.slice(at + 1).trim();
    delete values[name];
    if (text === '') continue;
    const value = /^[+-]?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
    if (!admits(limits, name, value)) {
      throw new CommandFailure(`${typed}: ${reasonText(expectation(limits, name))}, got ${text}.`);
    }
    values[name] = value;
  }
  return printSettings.parse(values);
}

function noSetting(change: string, typed: string, known: boolean): string {
  const names = [...NAMES.keys()];
  const meant = known ? nearest(typed, names) : undefined;
  const hint = meant === undefined ? `one of ${names.join(', ')}, as darkness=18` : `did you mean ${meant}?`;
  return `There is no setting ${JSON.stringify(change)}: ${hint}`;
}

/** A line for each setting that the printer has. */
export function settingLines({ name, limits, settings }: PrinterDetails): string[] {
  const has = settingName.options.filter((one) => limits[one] !== undefined);
  if (has.length === 0) return [`Nothing can be set at ${name}.`];
  const width = Math.max(...has.map((one) => typedName(one).length));
  return has.map((one) => {
    const takes = reasonText(expectation(limits, one)).replace(/^expected /, '');
    return `${typedName(one).padEnd(width)}  ${String(settings[one] ?? 'as it is').padEnd(10)}  ${takes}`;
  });
}
