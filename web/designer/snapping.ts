/** Moved elements snap to whole dots or half millimetres, and into line with others. All lengths are in mm. */
import { rounded } from './document.ts';
import type { Box } from './frame.ts';

export type Snap = 'dots' | 'half' | 'none';

/** The step of the raster, mm; undefined: there is no raster. */
export function rasterOf(snap: Snap, dpi: number): number | undefined {
  if (snap === 'none') return undefined;
  return snap === 'half' ? 0.5 : 25.4 / dpi;
}

export function snapped(mm: number, raster: number | undefined): number {
  return rounded(raster === undefined ? mm : Math.round(mm / raster) * raster);
}

/** A line that shows with what a moved element is in line. */
export type Guide = { readonly axis: 'x' | 'y'; readonly at: number };

export type Lines = { readonly x: readonly number[]; readonly y: readonly number[] };

/** The edges and middles of other elements and of the label. */
export function linesOf(boxes: readonly Box[], label: { width: number; height: number }): Lines {
  const all = [...boxes, { x: 0, y: 0, ...label }];
  const x = all.flatMap((box) => [box.x, box.x + box.width / 2, box.x + box.width]);
  const y = all.flatMap((box) => [box.y, box.y + box.height / 2, box.y + box.height]);
  return { x: [...new Set(x.map(rounded))], y: [...new Set(y.map(rounded))] };
}

/** The shortest step that takes one of the places onto one of the lines; undefined: no line is within reach. */
function nearestStep(places: readonly number[], lines: readonly number[], reach: number): number | undefined {
  let best: number | undefined;
  for (const place of places) {
    for (const line of lines) {
      const by = line - place;
      if (Math.abs(by) <= reach && Math.abs(by) < Math.abs(best ?? Number.POSITIVE_INFINITY)) best = by;
    }
  }
  return best;
}

type Asked = {
  /** The box before the move. */
  box: Box;
  dx: number;
  dy: number;
  lines: Lines;
  /** The distance within which a line attracts the box. */
  reach: number;
  raster: number | undefined;
};

/** The move near `dx`, `dy` to which a box snaps, and the lines with which it is then in line. */
export function drawnTo({ box, dx, dy, lines, reach, raster }: Asked): {
  dx: number;
  dy: number;
  guides: Guide[];
} {
  const along = (axis: 'x' | 'y', from: number, side: number, by: number): [number, Guide[]] => {
    const places = [from + by, from + by + side / 2, from + by + side];
    const step = nearestStep(places, lines[axis], reach);
    if (step === undefined) return [snapped(from + by, raster) - from, []];
    const at = lines[axis].filter((line) => places.some((place) => Math.abs(place + step - line) < 0.002));
    return [rounded(by + step), at.map((line) => ({ axis, at: line }))];
  };
  const [x, vertical] = along('x', box.x, box.width, dx);
  const [y, horizontal] = along('y', box.y, box.height, dy);
  return { dx: x, dy: y, guides: [...vertical, ...horizontal] };
}
