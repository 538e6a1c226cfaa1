/** Makes a printer's formats from what the operator has set and what the device says. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { DeviceIdentity } from '../../../drivers/device.ts';
import { LANGUAGES } from '../../../drivers/languages/index.ts';
import { type LanguageId, type PrinterFormat, printerSettings } from '../../contract/format.ts';
import type { ChosenDriver } from '../discovery/provider.ts';
import type { FormatConfig } from '../printer-config.ts';

/**
 * What counts for a printer that cannot be asked and for which nothing is set: the most common label printer. A template for
 * another size gives a warning at validation.
 */
const COMMON = { dpi: 203, width: 101.6, height: 152.4 };

/**
 * At least one format; the first is the default. A format's ID says what the format is: `zpl-203-101.6x152.4`. If the format
 * makes printer settings, they follow: `zpl-203-101.6x152.4-darkness-12-print-mode-cutter`.
 */
export function formatsOf(driver: ChosenDriver, identity: DeviceIdentity | null): PrinterFormat[] {
  const entries: FormatConfig[] = driver.formats ?? offered(driver, identity);
  const formats = entries.map(({ name, language, dpi, width, height, rasterType, ...settings }) => {
    // Not part of the ID: the raster type only says how the dots are written on their way to the printer.
    const raster = choosesDots(language) ? (rasterType ?? identity?.raster?.type) : undefined;
    const id = [`${language}-${dpi}-${width}x${height}`, ...settingNames(settings)].join('-');
    return {
      id: id.length <= LONGEST_ID ? id : `${id.slice(0, LONGEST_ID - 17)}-${digest(id)}`,
      name: name ?? `${width} × ${height} mm, ${dpi} dpi`,
      language,
      dpi,
      width,
      height,
      ...settings,
      ...(raster !== undefined && { rasterType: raster }),
    };
  });
  return formats.filter((format, index) => formats.findIndex(({ id }) => id === format.id) === index);
}

/**
 * The formats of a printer for which the operator has set none. There is one for each language that the printer says it
 * prints, on each media that it says it can take. The language that it is driven in comes first.
 */
function offered(driver: ChosenDriver, identity: DeviceIdentity | null): FormatConfig[] {
  const { language: usual, width, height } = driver;
  const settings = settingsOf.parse(driver);
  const said = identity?.languages ?? [];
  const languages = said.length === 0 || said.includes(usual) ? [usual, ...said] : said;
  const sizes = width === undefined && height === undefined ? (identity?.media ?? []) : [];
  const loaded = { width: width ?? identity?.width, height: height ?? identity?.height };
  return [...new Set(languages)].flatMap((language, index) =>
    [loaded, ...sizes].map((size) => {
      const rasterDpi = choosesDots(language) ? identity?.raster?.dpi : undefined;
      const entry = {
        language,
        dpi: driver.dpi ?? rasterDpi ?? identity?.dpi ?? COMMON.dpi,
        width: (size === loaded ? width : undefined) ?? nominal(size.width) ?? COMMON.width,
        height: (size === loaded ? height : undefined) ?? nominal(size.height) ?? COMMON.height,
        ...settings,
      };
      if (index === 0) return entry;
      // People choose a format by its name, so no two names may be alike.
      const name = `${entry.width} × ${entry.height} mm, ${entry.dpi} dpi, ${language.toUpperCase()}`;
      return { ...entry, name };
    }),
  );
}

/** Whether the language prints dots whose type and resolution the device itself names. */
function choosesDots(language: LanguageId): boolean {
  return LANGUAGES[language].rasterTypes !== undefined;
}

const LONGEST_ID = 200;

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** Picks the settings for the printer or its model out of all that is known of the printer. */
const settingsOf = z.object(printerSettings);

/** Like `darkness-12`. Sorted, so that the order in the configuration does not change the ID. */
function settingNames(settings: object): string[] {
  return Object.entries(settings)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}-${value}`)
    .toSorted();
}

const EIGHTH_INCH = 25.4 / 8;
/** How far a size can be off, mm: printers round to whole dots, and what makers call 203 dpi is not exactly that. */
const TOLERANCE = 0.25;

/** The nearest size that media is sold in (whole mm, eighths of an inch); what the device says if no such size is near. */
function nominal(mm: number | undefined): number | undefined {
  if (mm === undefined) return undefined;
  const sold = [Math.round(mm), Math.round(mm / EIGHTH_INCH) * EIGHTH_INCH];
  const [nearest = mm] = sold.toSorted((a, b) => Math.abs(a - mm) - Math.abs(b - mm));
  const size = Math.abs(nearest - mm) <= TOLERANCE && nearest > 0 ? nearest : mm;
  return Math.round(size * 100) / 100;
}
