/** The dialog for a printer's settings. For a setting that is left empty, that of the agent or of the printer counts. */
import { type Signal, useSignal } from '@preact/signals';
import {
  admits,
  expectation,
  type PrintSettings,
  printSettings,
  type SettingName,
  settingName,
} from '../../src/contract/print-settings.ts';
import { printerDetails } from '../../src/contract/printer-actions.ts';
import { Ask } from '../controls/dialog.tsx';
import { ChoiceField, TextField } from '../controls/field.tsx';
import { reasonWords } from '../controls/reason-words.ts';
import { say } from '../controls/toast.tsx';
import { call } from '../service/call.ts';
import { may } from '../service/session.ts';
import { t } from '../texts/texts.ts';
import { printTest } from './printer-test.tsx';
import { actionPath, type Printer } from './printer-words.tsx';

type Typed = Partial<Record<SettingName, string>>;
type Props = { printer: Printer; onDone: () => void; onClose: () => void };

export function PrinterSettings({ printer, onDone, onClose }: Props) {
  const { printers: words, general } = t.value;
  const typed = useSignal<Typed>(asTyped(printer.settings));
  const faults = faultsOf(printer, typed.value);
  const save = async () => {
    const body = settingsOf(typed.value, printer.limits);
    const now = await call(printerDetails, actionPath(printer, 'settings'), { method: 'PUT', body });
    say(
      <>
        {words.isSet}{' '}
        {may('printers:act') && (
          <button type="button" class="link" onClick={() => void printTest(now)}>
            {words.test}
          </button>
        )}
      </>,
    );
    onDone();
  };
  const names = settingName.options.filter((name) => printer.limits[name] !== undefined);
  return (
    <Ask
      title={words.setTitle}
      large
      action={general.save}
      disabled={Object.keys(faults).length > 0}
      onClose={onClose}
      onAction={save}
    >
      <p>{words.setSays}</p>
      <div class="fields">
        {names.map((name) => (
          <Setting key={name} name={name} printer={printer} typed={typed} fault={faults[name]} />
        ))}
      </div>
    </Ask>
  );
}

type SettingProps = {
  name: SettingName;
  printer: Printer;
  typed: Signal<Typed>;
  fault: string | undefined;
};

function Setting({ name, printer, typed, fault }: SettingProps) {
  const { printers: words } = t.value;
  const limit = printer.limits[name];
  const value = typed.value[name] ?? '';
  const change = (text: string) => {
    typed.value = { ...typed.value, [name]: text };
  };
  if (limit === undefined) return null;
  const is = asItIs(printer, name);
  if (!('from' in limit)) {
    const named: Readonly<Record<string, string>> = words.setting;
    const options = limit.map((word) => ({ value: word, words: named[word] ?? word }));
    return (
      <ChoiceField
        label={words.settingNames[name]}
        value={value}
        options={[
          { value: '', words: is === undefined ? words.notSet : words.asItIs(named[is] ?? is) },
          ...options,
        ]}
        onChoice={change}
      />
    );
  }
  const dots = name === 'labelTop' || name === 'labelShift';
  const hint = dots
    ? words.dotsHint(dotsInMm(printer))
    : words.rangeHint(numeral(limit.from), numeral(limit.to));
  return (
    <TextField
      label={words.settingNames[name]}
      hint={fault === undefined ? hint : undefined}
      fault={fault}
      placeholder={is === undefined ? words.notSet : words.asItIs(is)}
      value={value}
      onText={change}
      maxLength={8}
    />
  );
}

/** The setting from the agent's configuration, which counts while people set nothing here; undefined: only the printer knows. */
function asItIs({ formats, settings }: Printer, name: SettingName): string | undefined {
  const now = settings[name] === undefined ? formats[0]?.[name] : undefined;
  return typeof now === 'number' ? numeral(now) : now;
}

/** Dots per mm in the printer's first format, rounded. */
function dotsInMm({ formats: [first] }: Printer): number {
  return Math.round((first?.dpi ?? 203) / 25.4);
}

function numeral(value: number): string {
  // Without grouping: `typedValue` would read a point between thousands as a decimal point.
  return value.toLocaleString(t.value.locale, { useGrouping: false });
}

function asTyped(settings: PrintSettings): Typed {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      name,
      typeof value === 'number' ? numeral(value) : value,
    ]),
  );
}

/** Reads a number with a decimal point or comma. Returns any other text as it is, and the form refuses it. */
function typedValue(name: SettingName, text: string, limits: Printer['limits']): number | string | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  const limit = limits[name];
  if (limit === undefined || !('from' in limit)) return trimmed;
  const digits = trimmed.replace(',', '.').replace('−', '-');
  return /^[+-]?\d+(?:\.\d+)?$/.test(digits) ? Number(digits) : trimmed;
}

function faultsOf({ limits }: Printer, typed: Typed): Typed {
  const faults: Typed = {};
  for (const name of settingName.options) {
    const value = typedValue(name, typed[name] ?? '', limits);
    if (value !== undefined && !admits(limits, name, value)) {
      faults[name] = reasonWords(expectation(limits, name)) ?? '';
    }
  }
  return faults;
}

function settingsOf(typed: Typed, limits: Printer['limits']): PrintSettings {
  const values = settingName.options.map(
    (name) => [name, typedValue(name, typed[name] ?? '', limits)] as const,
  );
  return printSettings.parse(Object.fromEntries(values.filter(([, value]) => value !== undefined)));
}
