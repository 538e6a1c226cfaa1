/**
 * What is known of models that cannot be asked, or that do not say it themselves. For each property the first line counts that
 * matches the model and has the property. The operator's lines come before ours.
 *
 * The table is honest and small: a language stands here only if the printer speaks it as it leaves the factory. With some
 * makers the language is a setting (SATO, Citizen, Honeywell: their own or an emulation of ZPL). They have no line here,
 * because only the operator knows what was set. Nothing here was tried on hardware; the source is the makers' documentation.
 */
import { z } from 'zod';
import { PICTURES } from '../../../drivers/languages/index.ts';
import type { TransportTraits } from '../../../drivers/transports/transport.ts';
import type { Transports } from '../../../drivers/transports/transports.ts';
import { type LanguageId, languageId, printerSettings } from '../../contract/format.ts';
import { confirmation } from '../printer-config.ts';
import { deviceLanguage, type Evidence } from './evidence.ts';
import type { ChosenDriver, Sighting } from './provider.ts';

export const fingerprint = z.strictObject({
  /**
   * Make and model as one text, in any case; `*` stands for any characters: `zebra *zt4*-300dpi*`. A line of the operator may
   * also match the name of a printer whose model is unknown: `labels-*` for raw queues with such names.
   */
  match: z.string().trim().min(1).max(200),
  /** What the model speaks, in any order; empty: no language that is known here. */
  languages: z.array(deviceLanguage).max(20).exactOptional(),
  dpi: z.number().min(50).max(2_400).exactOptional(),
  /** Printable width and length, mm. */
  width: z.number().positive().max(2_000).exactOptional(),
  height: z.number().positive().max(2_000).exactOptional(),
  confirmation: confirmation.exactOptional(),
  /** How printers of this model are set: cutter, peeler, darkness, …. */
  ...printerSettings,
  notes: z.string().max(500).exactOptional(),
});
export type Fingerprint = z.infer<typeof fingerprint>;

export const FINGERPRINTS: readonly Fingerprint[] = [
  { match: 'zebra*-200dpi*', dpi: 203, notes: 'What Zebra calls 200 dpi is 8 dots/mm.' },
  { match: 'zebra*-203dpi*', dpi: 203 },
  { match: 'zebra*-300dpi*', dpi: 300 },
  { match: 'zebra*-600dpi*', dpi: 600 },
  { match: 'zebra*zpl*', languages: ['zpl'] },
  { match: 'zebra*zt2*', languages: ['zpl'] },
  { match: 'zebra*zt4*', languages: ['zpl'] },
  { match: 'zebra*zt5*', languages: ['zpl'] },
  { match: 'zebra*zt6*', languages: ['zpl'] },
  { match: 'zebra*zd4*', languages: ['zpl'] },
  { match: 'zebra*zd6*', languages: ['zpl'] },
  // The names of Zebra's drivers for Windows.
  { match: 'zdesigner*203dpi*', dpi: 203 },
  { match: 'zdesigner*300dpi*', dpi: 300 },
  { match: 'zdesigner*600dpi*', dpi: 600 },
  { match: 'zdesigner*zpl*', languages: ['zpl'] },
  { match: 'zdesigner*epl*', languages: ['epl'] },
  { match: 'zebra*epl*', languages: ['epl'], notes: 'A second firmware of the same printers speaks ZPL.' },
  { match: 'zebra*2844-z*', languages: ['zpl'], dpi: 203 },
  { match: 'zebra*2844*', languages: ['epl'], dpi: 203 },
  { match: 'zebra*2824-z*', languages: ['zpl'], dpi: 203 },
  { match: 'zebra*2824 plus*', languages: ['zpl'], dpi: 203 },
  { match: 'zebra*2824*', languages: ['epl'], dpi: 203 },
  { match: 'eltron *', languages: ['epl'] },
  { match: 'tsc *', languages: ['tspl'] },
  { match: 'tsc t*p-24*', dpi: 203 },
  { match: 'tsc t*p-34*', dpi: 300 },
  { match: 'tsc te2*', dpi: 203 },
  { match: 'tsc te3*', dpi: 300 },
  {
    match: 'xprinter *xp-4*',
    languages: ['tspl'],
    dpi: 203,
    notes: 'Its receipt printers (XP-58, XP-80) do not.',
  },
  {
    match: 'rongta *rp4*',
    languages: ['tspl'],
    dpi: 203,
    notes: 'Its receipt printers (RP58, RP80) do not.',
  },
  { match: 'brother ql-*', languages: [], notes: 'Speaks a raster language of its own.' },
  { match: 'dymo labelwriter*', languages: [], notes: 'Speaks a raster language of its own.' },
];

/**
 * What a table says of a printer. Each property comes from the first line that matches the printer and has the property.
 * @param name what people call the printer; if given, a line may match the name too
 */
export function fingerprintOf(
  { make, model }: Pick<Evidence, 'make' | 'model'>,
  table: readonly Fingerprint[] = FINGERPRINTS,
  name = '',
): Omit<Fingerprint, 'match'> {
  const texts = [nameOf(make, model), name].map((text) => text.toLowerCase()).filter((text) => text !== '');
  const lines = table.filter(({ match }) => texts.some((text) => matches(match.toLowerCase(), text)));
  return Object.assign({}, ...lines.reverse().map(({ match: _, ...what }) => what));
}

/** Make and model, without saying the make twice; empty if neither is known. */
export function nameOf(make: string | undefined, model: string | undefined): string {
  if (make === undefined || model?.toLowerCase().startsWith(make.toLowerCase())) return model ?? '';
  return model === undefined ? make : `${make} ${model}`;
}

/**
 * How to drive what a provider has found. Undefined if nobody knows which languages the device speaks, if Platen prints in
 * none of them, or if there is no transport for the address. Then the device is never asked who it is: an office printer
 * would print the question.
 *
 * If the operator wrote an entry for this printer, only the entry counts. Otherwise the operator's table comes first, then what
 * the printer says of itself, then our own table.
 */
export function chooseDriver(
  { uri, name, evidence, entry }: Sighting,
  transports: Transports,
  operators: readonly Fingerprint[] = [],
): ChosenDriver | undefined {
  if (entry !== undefined) return { ...entry, evidence };
  const set = fingerprintOf(evidence, operators, evidence.model === undefined ? name : undefined);
  const known = fingerprintOf(evidence);
  const said = evidence.languages?.length ? evidence.languages : undefined;
  const transport = transports.traits(uri);
  if (transport === undefined) return undefined;
  const told = (said ?? known.languages ?? []).filter((one) => isPrintedBy(transport, one));
  const language = driven(set.languages ?? told);
  if (language === undefined) return undefined;
  const size = { dpi: set.dpi ?? evidence.dpi ?? known.dpi, width: set.width, height: set.height };
  return {
    uri,
    ...(name !== undefined && { name }),
    language,
    ...Object.fromEntries(Object.entries(size).filter(([, value]) => value !== undefined)),
    evidence,
  };
}

/** Pictures need a transport that names their format. Without the name, a device may print their bytes as text. */
function isPrintedBy({ namesFormats = false }: TransportTraits, language: string): boolean {
  return namesFormats || !PICTURES.some((picture) => picture === language);
}

/** The first of our languages that the printer speaks. Our order counts, because most printers list theirs in no order. */
function driven(languages: readonly string[]): LanguageId | undefined {
  return languageId.options.find((language) => languages.includes(language));
}

/** `*` stands for any characters, also none. No regular expression is made of the operator's text: it is no program. */
function matches(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
