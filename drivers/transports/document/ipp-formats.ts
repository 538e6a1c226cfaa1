/**
 * Reads from IPP attributes which label languages an IPP printer or CUPS queue takes, under which MIME types, and which dots it
 * wants in PWG raster.
 *
 * A CUPS queue takes a printer's own language as `application/vnd.cups-raw`, which bypasses every filter. The formats that it
 * lists are those that it could convert. So only a queue with a driver is known to print pages.
 * Source: RFC 8011 §5.4.21; PWG 5102.4 §7 (pwg-raster-document-*); CUPS Implementation of IPP.
 */
import { type LanguageId, languageId, type RasterType, rasterType } from '../../../src/contract/format.ts';
import { type IppAttribute, stringsOf, valuesOf } from '../../ipp/message.ts';
import { CONVERTIBLE, LANGUAGES, printsPages } from '../../languages/index.ts';
import { parseDeviceId, plainText } from '../device-id.ts';

const CUPS_RAW = 'application/vnd.cups-raw';
const ANY = 'application/octet-stream';
const RAW_QUEUE = 'Local Raw Printer';

/** The attributes that the functions here look at. */
export const FORMAT_ATTRIBUTES = [
  'printer-make-and-model',
  'printer-device-id',
  'document-format-supported',
  'printer-resolution-default',
  'printer-resolution-supported',
  'pwg-raster-document-type-supported',
  'pwg-raster-document-resolution-supported',
];

interface FormatsTaken {
  /** The languages that it is known to print, best for labels first; empty: it passes on whatever it gets. */
  languages: LanguageId[];
  /** The MIME type of each language; a language that is absent would be refused. */
  mediaTypes: Partial<Record<LanguageId, string>>;
  /** `none`: not a CUPS queue. `driver`: a queue with a driver. `raw`: a queue that passes on what it gets. */
  queue: 'none' | 'raw' | 'driver';
}

export function formatsTaken(said: readonly IppAttribute[]): FormatsTaken {
  const formats = stringsOf(said, 'document-format-supported').map((format) => format.toLowerCase());
  const makeAndModel = plainText(stringsOf(said, 'printer-make-and-model')[0] ?? '');
  const { commands } = parseDeviceId(stringsOf(said, 'printer-device-id')[0] ?? '');
  const raw = makeAndModel === '' || makeAndModel === RAW_QUEUE;
  const queue = !formats.includes(CUPS_RAW) ? 'none' : raw ? 'raw' : 'driver';
  const mediaTypes: FormatsTaken['mediaTypes'] = {};
  const languages = languageId.options.filter((language) => {
    const { mediaTypes: types, commandSets, rasterTypes } = LANGUAGES[language];
    const listed = types.find((format) => formats.includes(format));
    if (rasterTypes !== undefined && rasterTaken(said) === undefined) return false;
    if (printsPages(language)) {
      if (listed !== undefined) mediaTypes[language] = listed;
      return (
        listed !== undefined && (queue === 'none' || (queue === 'driver' && CONVERTIBLE.includes(language)))
      );
    }
    const mediaType = queue === 'none' ? (listed ?? (formats.includes(ANY) ? ANY : undefined)) : CUPS_RAW;
    if (mediaType !== undefined) mediaTypes[language] = mediaType;
    if (queue === 'none') return listed !== undefined;
    return commands.some((command) => commandSets.some((name) => command.toUpperCase().startsWith(name)));
  });
  return { languages, mediaTypes, queue };
}

export interface RasterTaken {
  type: RasterType;
  dpi?: number;
}

/**
 * The first type of `rasterType` that the printer lists (`sgray_8` if it lists no types), and the listed resolution for PWG
 * raster that is nearest to the printer's own. Undefined: the printer lists only other types.
 */
export function rasterTaken(said: readonly IppAttribute[]): RasterTaken | undefined {
  const types = stringsOf(said, 'pwg-raster-document-type-supported');
  const type = types.length === 0 ? 'sgray_8' : rasterType.options.find((one) => types.includes(one));
  if (type === undefined) return undefined;
  const own = resolution(said);
  const listed = resolutions(said, 'pwg-raster-document-resolution-supported');
  const away = (dpi: number) => Math.abs(dpi - (own ?? dpi));
  const [dpi] = listed.toSorted((a, b) => away(a) - away(b));
  return { type, ...(dpi !== undefined && { dpi }) };
}

/** The printer's resolution, dpi; undefined: it lists no resolution that is the same in both directions. */
export function resolution(said: readonly IppAttribute[]): number | undefined {
  return ['printer-resolution-default', 'printer-resolution-supported'].flatMap((name) =>
    resolutions(said, name),
  )[0];
}

function resolutions(said: readonly IppAttribute[], name: string): number[] {
  return valuesOf(said, name).flatMap((value) => {
    if (value.tag !== 'resolution' || value.x !== value.y) return [];
    const dpi = value.unit === 'dpi' ? value.x : Math.round(value.x * 2.54);
    return dpi >= 50 && dpi <= 2_400 ? [dpi] : [];
  });
}
