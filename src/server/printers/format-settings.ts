/** Adds the settings that people have made at a printer to the formats that its agents report. */
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

/** The formats that jobs are printed in: each with those of the people's settings that its language takes. */
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
