/**
 * The boxes, circles and lines of a format as the rasteriser draws them.
 *
 * Source: ZPL II Programming Guide, ^GB, ^GC, ^GD and ^GE.
 */
import { whole } from '../parameters.ts';

/** The most dots that each may measure, by the guide: the rasteriser would take any memory for a larger circle. */
const MOST: Readonly<Record<string, number>> = { GB: 32_000, GC: 4095, GD: 32_000, GE: 4095 };

export function isShape(name: string): boolean {
  return Object.hasOwn(MOST, name);
}

/** @param params in dots */
export function shapeField(name: string, params: string): string {
  const most = MOST[name] ?? 0;
  const within = params
    .split(',')
    .map((value) => (Number.parseInt(value, 10) > most ? String(most) : value))
    .join(',');
  return name === 'GB' ? boxField(within) : `^${name}${within}`;
}

/**
 * `^GB` for the rasteriser, which draws a square one dot too large if its line is as thick as the square is
 * wide. With half that thickness the square is filled as well. A single dot becomes a graphic.
 */
function boxField(params: string): string {
  const [width, height, thickness, ...rest] = params.split(',');
  const line = whole(thickness, 1, 1, 32_000);
  const across = Math.max(whole(width, line, 0, 32_000), line);
  const down = Math.max(whole(height, line, 0, 32_000), line);
  if (across !== down || line < across) return `^GB${params}`;
  if (across === 1 && rest[0]?.trim().toUpperCase() !== 'W') return '^GFA,1,1,1,80';
  return `^GB${[across, down, Math.ceil(across / 2), ...rest].join(',')}`;
}
