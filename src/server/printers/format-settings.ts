/** What people have set at a printer, in the formats that its agents tell of. */
import { LANGUAGES } from '../../../drivers/languages/index.ts';
import type { PrinterFormat } from '../../contract/format.ts';
import {
  admits,
  admitted,
  commonLimits,
  expectation,
  type PrintSettings,
  type SettingLimits,
  settingName,
} from '../../contract/print-settings.ts';
import { type Fault, faultAt, jsonPointer, payloadInvalid } from '../problems.ts';

/** Each as it is printed in: with what its language takes of the settings, where people have set any. */
export function formatsAsSet(formats: readonly PrinterFormat[], settings: PrintSettings): PrinterFormat[] {
  return formats.map((format) => ({ ...format, ...admitted(limitsIn(format), settings) }));
}

/** What can be set at a printer of these formats. */
export function limitsOf(formats: readonly PrinterFormat[]): SettingLimits {
  return commonLimits(formats.map(limitsIn));
}

function limitsIn({ language }: PrinterFormat): SettingLimits {
  return LANGUAGES[language].settings ?? {};
}

/** @throws ProblemError `payload-invalid`, for each setting that such a printer does not take */
export function demandAdmitted(formats: readonly PrinterFormat[], settings: PrintSettings): void {
  const limits = limitsOf(formats);
  const faults = settingName.options.flatMap((name): Fault[] => {
    const value = settings[name];
    if (value === undefined || admits(limits, name, value)) return [];
    return [faultAt(jsonPointer([name]), expectation(limits, name), value)];
  });
  if (faults.length > 0) throw payloadInvalid(faults);
}
