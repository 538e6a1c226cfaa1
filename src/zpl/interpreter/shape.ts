/**
 * Writes the boxes, circles and lines of a format in a form that the rasteriser draws. It does not draw ellipses, so they
 * become graphics.
 *
 * Source: ZPL II Programming Guide, ^GB, ^GC, ^GD and ^GE.
 */
import { GraphicError, graphicCommand, hexDigits } from '../graphic-data.ts';
import { whole } from '../parameters.ts';
import type { GraphicRoom } from './graphic-field.ts';

/** By the guide, the most dots that each may measure. For a larger circle the rasteriser would take any amount of memory. */
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
 * A `^GB` for the rasteriser. If a square's line is as thick as the square is wide, the rasteriser draws it one dot too large.
 * Half that thickness fills the square as well, so it is used. A single dot becomes a graphic.
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

/** An ellipse (`^GE`), dots. */
export interface EllipsePiece {
  readonly kind: 'ellipse';
  readonly width: number;
  readonly height: number;
  /** How far its line reaches inwards. */
  readonly line: number;
  readonly isWhite: boolean;
}

/** @param params in dots */
export function ellipse(params: string): EllipsePiece {
  const [width, height, thickness, color] = params.split(',');
  const line = whole(thickness, 1, 1, 4095);
  return {
    kind: 'ellipse',
    width: whole(width, line, 3, 4095),
    height: whole(height, line, 3, 4095),
    line,
    isWhite: color?.trim().toUpperCase() === 'W',
  };
}

/** The ellipse as a graphic. @throws GraphicTooLarge; GraphicError: it is white, and a graphic cannot be white */
export function ellipseField({ width, height, line, isWhite }: EllipsePiece, room: GraphicRoom): string {
  if (isWhite) throw new GraphicError('a white ^GE is not drawn');
  room.draw(width * height);
  const stride = Math.ceil(width / 8);
  const bits = new Uint8Array(stride * height);
  for (let y = 0; y < height; y++) {
    const [outer, inner] = [0, line].map((inset) =>
      halfWidth(width / 2 - inset, height / 2 - inset, y + 0.5 - height / 2),
    );
    for (let x = 0; x < width; x++) {
      const away = Math.abs(x + 0.5 - width / 2);
      if (away > (outer ?? 0) || away < (inner ?? 0)) continue;
      const at = y * stride + (x >> 3);
      bits[at] = (bits[at] ?? 0) | (0x80 >> (x & 7));
    }
  }
  return graphicCommand(bits.length, stride, hexDigits(bits));
}

/**
 * How far an ellipse reaches to each side of its middle, at the height `away` above or below the middle; 0 beyond the ellipse.
 */
function halfWidth(across: number, down: number, away: number): number {
  if (across <= 0 || down <= 0 || Math.abs(away) >= down) return 0;
  return across * Math.sqrt(1 - (away / down) ** 2);
}
