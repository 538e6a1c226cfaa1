/**
 * Converts measurements under `^MU` (in mm, in inches, or for another resolution) to dots.
 * Source: ZPL II Programming Guide, ^MU.
 */
import { measuredParameters } from '../commands.ts';

/**
 * How many dots a unit of `^MU a,b,c` has: 1 for dots, those of a mm for M, those of an inch for I, c/b for a change of dpi.
 */
function factor(unit: string, dpi: number): number {
  const [kind = 'D', base = '', desired = ''] = unit.toUpperCase().split(',');
  if (kind.trim() === 'M') return dpi / 25.4;
  if (kind.trim() === 'I') return dpi;
  const scale = Number(desired) / Number(base);
  return Number.isFinite(scale) && scale > 0 ? scale : 1;
}

/** The command's parameters, with measures in dots. @param unit the parameters of the `^MU` in force, if there is one */
export function toDots(name: string, params: string, unit: string | undefined, dpi: number): string {
  const scale = unit === undefined ? 1 : factor(unit, dpi);
  const measured = measuredParameters(name);
  if (scale === 1 || measured.length === 0) return params;
  return params
    .split(',')
    .map((value, index) => {
      const number = Number(value);
      if (!measured.includes(index) || value.trim() === '' || Number.isNaN(number)) return value;
      return String(Math.round(number * scale));
    })
    .join(',');
}
