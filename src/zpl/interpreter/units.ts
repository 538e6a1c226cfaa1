/**
 * `^MU`: measurements in mm or inches, or made for another resolution, become dots.
 *
 * Only the first argument of a command's list below is a place on the label; counts, flags and ratios stay.
 * Source: ZPL II Programming Guide, ^MU.
 */

/** Which parameters of a command are measured in the unit of `^MU`, by index. */
const MEASURED: Record<string, readonly number[]> = {
  FO: [0, 1],
  FT: [0, 1],
  LH: [0, 1],
  LL: [0],
  LS: [0],
  LT: [0],
  PW: [0],
  GB: [0, 1, 2],
  GC: [0, 1],
  GD: [0, 1, 2],
  GE: [0, 1, 2],
  CF: [1, 2],
  FB: [0, 2, 4],
  TB: [1, 2],
  BY: [2],
  BC: [1],
  BE: [1],
  B2: [1],
  B3: [2],
};

/** Dots per unit under `^MU a,b,c`: 1 for dots, dots per mm for M, per inch for I, c/b for a change of dpi. */
function factor(unit: string, dpi: number): number {
  const [kind = 'D', base = '', desired = ''] = unit.toUpperCase().split(',');
  if (kind.trim() === 'M') return dpi / 25.4;
  if (kind.trim() === 'I') return dpi;
  const scale = Number(desired) / Number(base);
  return Number.isFinite(scale) && scale > 0 ? scale : 1;
}

/** The command's parameters in dots. `unit`: the parameters of the `^MU` in force, if any. */
export function toDots(name: string, params: string, unit: string | undefined, dpi: number): string {
  const scale = unit === undefined ? 1 : factor(unit, dpi);
  const font = name.startsWith('A') ? [1, 2] : undefined;
  const measured = font ?? MEASURED[name];
  if (scale === 1 || !measured) return params;
  return params
    .split(',')
    .map((value, index) => {
      const number = Number(value);
      if (!measured.includes(index) || value.trim() === '' || Number.isNaN(number)) return value;
      return String(Math.round(number * scale));
    })
    .join(',');
}
