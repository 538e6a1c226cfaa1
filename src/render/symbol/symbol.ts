/**
 * Encodes a value as a symbol: the table of symbologies, each with the quiet zones of its standard.
 *
 * A value is encoded as it is, or refused (`SymbolError`), so that a scanner reads exactly what was posted.
 */
import { because } from '../../contract/reason.ts';
import { SYMBOLOGY_OPTIONS, type Symbology } from '../../contract/template.ts';
import { SymbolError } from './bwip.ts';
import { COMPOSITE } from './symbology/composite.ts';
import { DATABAR } from './symbology/databar.ts';
import { HEALTH } from './symbology/health.ts';
import { LINEAR } from './symbology/linear.ts';
import { MATRIX } from './symbology/matrix.ts';
import { MAXICODE } from './symbology/maxicode.ts';
import { POSTAL } from './symbology/postal.ts';
import { RETAIL } from './symbology/retail.ts';
import type { BarcodeSymbol, QuietZone, SymbolOptions, SymbologyRules } from './symbology/rules.ts';
import { STACKED } from './symbology/stacked.ts';

const RULES: Readonly<Record<Symbology, SymbologyRules>> = {
  ...LINEAR,
  ...RETAIL,
  ...DATABAR,
  ...STACKED,
  ...MATRIX,
  ...MAXICODE,
  ...POSTAL,
  ...HEALTH,
  ...COMPOSITE,
};

export function symbologyRules(symbology: Symbology): SymbologyRules {
  return RULES[symbology];
}

export function isGs1(symbology: Symbology): boolean {
  return RULES[symbology].gs1 === true;
}

export function isLinear(symbology: Symbology): boolean {
  return RULES[symbology].kind === 'linear';
}

/** The quiet zone of a symbology; a symbol with an add-on has its own. */
export function quietZone(symbology: Symbology): QuietZone {
  return RULES[symbology].quiet;
}

/** @throws SymbolError the symbology does not have an option, or does not allow its value */
export function checkOptions(symbology: Symbology, options: SymbolOptions): void {
  const rules = RULES[symbology];
  for (const name of SYMBOLOGY_OPTIONS) {
    if (options[name] !== undefined && !rules.options.includes(name)) {
      throw new SymbolError(because('option-unknown', { option: name, symbology }));
    }
  }
  rules.checkOptions?.(options);
}

/** @throws SymbolError */
export function encodeSymbol(symbology: Symbology, value: string, options: SymbolOptions): BarcodeSymbol {
  if (value === '') throw new SymbolError(because('value-empty', {}));
  return RULES[symbology].encode(value, options);
}

/** A cheap upper bound for the side of a matrix symbol, modules; undefined: only encoding the symbol can tell. */
export function symbolBound(symbology: Symbology, value: string, options: SymbolOptions): number | undefined {
  if (value === '') throw new SymbolError(because('value-empty', {}));
  return RULES[symbology].bound?.(value, options);
}
