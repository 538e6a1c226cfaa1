/**
 * A printer's settings as people make them in the service. They apply to all formats of the printer, override
 * what its agent's configuration says, and count for jobs that come later. A setting that is left out stays
 * as the format has it.
 */
import { z } from 'zod';
import { printerSettings } from './format.ts';
import { because, type Reason } from './reason.ts';

/** The format's other settings are for whoever runs the agent to set. */
export const printSettings = z.strictObject(printerSettings).pick({
  darkness: true,
  speed: true,
  labelTop: true,
  labelShift: true,
  mediaTracking: true,
  printMode: true,
  thermalMode: true,
});
export type PrintSettings = z.infer<typeof printSettings>;

export const settingName = printSettings.keyof();
export type SettingName = z.infer<typeof settingName>;

const range = z.object({ from: z.number(), to: z.number(), step: z.number().positive() });
const words = z.array(z.string()).readonly();
/** Reads stored settings: settings that only a newer version knows are left out. */
export const keptSettings = z.object(printSettings.shape).catch({});

/** What a printer takes per setting: numbers in steps, or one of some words. Left out: no such setting. */
export const settingLimits = z.partialRecord(settingName, z.union([range, words]));
export type SettingLimits = z.infer<typeof settingLimits>;

/** For each setting, what all of these limits allow that have the setting at all. */
export function commonLimits(all: readonly SettingLimits[]): SettingLimits {
  const common: SettingLimits = {};
  for (const limits of all) {
    for (const name of settingName.options) {
      const [limit, known] = [limits[name], common[name]];
      if (limit === undefined) continue;
      common[name] = known === undefined ? limit : narrower(known, limit);
    }
  }
  return common;
}

type Limit = z.infer<typeof range> | z.infer<typeof words>;

function narrower(one: Limit, other: Limit): Limit {
  if ('from' in one && 'from' in other) {
    return {
      from: Math.max(one.from, other.from),
      to: Math.min(one.to, other.to),
      step: Math.max(one.step, other.step),
    };
  }
  return 'from' in one || 'from' in other ? [] : one.filter((word) => other.includes(word));
}

/** Whether a printer of these limits takes the value. */
export function admits(limits: SettingLimits, name: SettingName, value: number | string): boolean {
  const limit = limits[name];
  if (limit === undefined) return false;
  if (!('from' in limit)) return typeof value === 'string' && limit.includes(value);
  if (typeof value !== 'number' || value < limit.from || value > limit.to) return false;
  const steps = value / limit.step;
  return Math.abs(steps - Math.round(steps)) < 1e-6;
}

/** Those of the settings that a printer of these limits takes. */
export function admitted(limits: SettingLimits, settings: PrintSettings): PrintSettings {
  const kept = Object.entries(settings).filter(([key, value]) => {
    const name = settingName.safeParse(key);
    return name.success && value !== undefined && admits(limits, name.data, value);
  });
  return printSettings.parse(Object.fromEntries(kept));
}

/** What the printer takes for the setting, to be said when a value is refused. */
export function expectation(limits: SettingLimits, name: SettingName): Reason {
  const limit = limits[name];
  if (limit === undefined) return because('setting-none', {});
  if (!('from' in limit)) return because('expected-one-of', { choices: limit.join(', ') });
  const between = { least: limit.from, most: limit.to };
  return limit.step === 1 ? because('whole-number', between) : because('number-between', between);
}
