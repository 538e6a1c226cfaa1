/** What the designer knows of symbologies: kind, options, an example. */
import type { Symbology, SymbologyOption } from '../../src/contract/template.ts';

/** `bars`: the height can be chosen; `code`: the height follows from the content; `fixed`: there is only one size. */
type SymbolKind = 'bars' | 'code' | 'fixed';

type SymbolFacts = {
  kind: SymbolKind;
  options: readonly SymbologyOption[];
  /** A valid value, for a new element. */
  example: string;
};

const bars = (example: string, ...options: SymbologyOption[]): SymbolFacts => ({
  kind: 'bars',
  example,
  options,
});
const code = (example: string, ...options: SymbologyOption[]): SymbolFacts => ({
  kind: 'code',
  example,
  options,
});
const fixed = (example: string, ...options: SymbologyOption[]): SymbolFacts => ({
  kind: 'fixed',
  example,
  options,
});

const GTIN = '(01)04006381333931';
const COMPOSITE = '|(10)LOT42';

export const SYMBOLOGY_FACTS: Readonly<Record<Symbology, SymbolFacts>> = {
  code128: bars('ABC-12345', 'codeSet'),
  'gs1-128': bars('(00)340123450000000000'),
  code39: bars('ABC123', 'fullAscii', 'checkDigit', 'ratio'),
  code93: bars('ABC123'),
  codabar: bars('A12345B', 'checkDigit', 'ratio'),
  itf: bars('123456', 'checkDigit', 'ratio', 'bearer'),
  itf14: bars('04006381333931', 'ratio', 'bearer'),
  msi: bars('123456', 'checkDigit', 'ratio'),
  ean13: bars('4006381333931'),
  ean8: bars('96385074'),
  upca: bars('036000291452'),
  upce: bars('01234565'),
  databar: code(GTIN),
  'databar-truncated': code(GTIN),
  'databar-stacked': code(GTIN),
  'databar-stacked-omni': code(GTIN),
  'databar-limited': code('(01)04006381333931'),
  'databar-expanded': code(`${GTIN}(10)LOT42`),
  'databar-expanded-stacked': code(`${GTIN}(10)LOT42`, 'columns'),
  qr: code('https://example.com', 'ecLevel'),
  'micro-qr': code('12345', 'ecLevel'),
  'gs1-qr': code(`${GTIN}(10)LOT42`, 'ecLevel'),
  datamatrix: code('ABC-12345', 'shape'),
  'gs1-datamatrix': code(`${GTIN}(10)LOT42`, 'shape'),
  pdf417: code('ABC-12345', 'ecLevel', 'columns', 'rowHeight'),
  micropdf417: code('ABC-12345', 'columns', 'rowHeight'),
  aztec: code('ABC-12345', 'ecLevel'),
  maxicode: fixed('ABC-12345', 'mode'),
  'royal-mail': fixed('SN34RD1A'),
  kix: fixed('2500GG30250'),
  'usps-imb': fixed('01234567094987654321'),
  postnet: fixed('12345'),
  planet: fixed('01234567890'),
  'japan-post': fixed('6540123789'),
  'australia-post': fixed('1139549554'),
  leitcode: bars('2134807501640', 'ratio'),
  identcode: bars('56310243031', 'ratio'),
  code11: bars('123-45', 'checkDigit', 'ratio'),
  telepen: bars('ABC123'),
  pharmacode: bars('1234'),
  pzn: bars('0123456', 'ratio'),
  code32: bars('01234567', 'ratio'),
  'hibc-code128': bars('A123BJC5D6E71'),
  'hibc-code39': bars('A123BJC5D6E71', 'ratio'),
  'hibc-datamatrix': code('A123BJC5D6E71', 'shape'),
  'hibc-qr': code('A123BJC5D6E71', 'ecLevel'),
  'hibc-aztec': code('A123BJC5D6E71', 'ecLevel'),
  rmqr: code('ABC-12345', 'ecLevel', 'version'),
  'ean13-composite': code(`4006381333931${COMPOSITE}`),
  'ean8-composite': code(`96385074${COMPOSITE}`),
  'upca-composite': code(`036000291452${COMPOSITE}`),
  'upce-composite': code(`01234565${COMPOSITE}`),
  'gs1-128-composite': code(`${GTIN}${COMPOSITE}`),
  'databar-composite': code(`${GTIN}${COMPOSITE}`),
  'databar-stacked-composite': code(`${GTIN}${COMPOSITE}`),
  'databar-stacked-omni-composite': code(`${GTIN}${COMPOSITE}`),
  'databar-limited-composite': code(`${GTIN}${COMPOSITE}`),
  'databar-expanded-composite': code(`${GTIN}${COMPOSITE}`),
};

/** `elements`: the value consists of AIs; `composite`: AIs follow after a `|`. */
export function gs1Kind(symbology: Symbology): 'elements' | 'composite' | undefined {
  if (symbology.endsWith('-composite')) return 'composite';
  return /^(?:gs1-|databar)/.test(symbology) ? 'elements' : undefined;
}
