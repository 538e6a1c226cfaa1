/** Boxes, lines and ellipses as items: the same for every record. */

import { dots } from '../contract/dots.ts';
import type { BoxElement, EllipseElement, LineElement } from '../contract/template.ts';
import type { Item, Rect } from './display-list.ts';

/** Rounded at both edges, so that boxes that touch on paper touch in dots. */
function rectOf(element: { x: number; y: number; width: number; height: number }, dpi: number): Rect {
  const x = dots(element.x, dpi);
  const y = dots(element.y, dpi);
  return {
    x,
    y,
    width: Math.max(1, dots(element.x + element.width, dpi) - x),
    height: Math.max(1, dots(element.y + element.height, dpi) - y),
  };
}

export function boxItems(element: BoxElement, dpi: number): Item[] {
  const rect = rectOf(element, dpi);
  const { x, y, width, height } = rect;
  const thickness = Math.max(1, dots(element.thickness, dpi));
  const radius = Math.min(dots(element.radius, dpi), Math.floor(Math.min(width, height) / 2));
  const solid = element.filled || 2 * thickness >= Math.min(width, height);
  const ink = element.color;
  if (radius > 0) return [{ kind: 'rounded', ...rect, thickness, radius, filled: solid, ink }];
  if (solid) return [{ kind: 'fill', ...rect, ink }];
  const side = height - 2 * thickness;
  return [
    { kind: 'fill', x, y, width, height: thickness, ink },
    { kind: 'fill', x, y: y + height - thickness, width, height: thickness, ink },
    { kind: 'fill', x, y: y + thickness, width: thickness, height: side, ink },
    { kind: 'fill', x: x + width - thickness, y: y + thickness, width: thickness, height: side, ink },
  ];
}

export function ellipseItems(element: EllipseElement, dpi: number): Item[] {
  const rect = rectOf(element, dpi);
  const thickness = Math.max(1, dots(element.thickness, dpi));
  const filled = element.filled || 2 * thickness >= Math.min(rect.width, rect.height);
  return [{ kind: 'ellipse', ...rect, thickness, filled, ink: element.color }];
}

/** Horizontal and vertical lines hang below and right of their points, as ^GB draws them. */
export function lineItems(element: LineElement, dpi: number): Item[] {
  const [x1, y1] = [dots(element.x, dpi), dots(element.y, dpi)];
  const [x2, y2] = [dots(element.x2, dpi), dots(element.y2, dpi)];
  const thickness = Math.max(1, dots(element.thickness, dpi));
  const x = Math.min(x1, x2);
  const y = Math.min(y1, y2);
  const ink = element.color;
  if (y1 === y2)
    return [{ kind: 'fill', x, y, width: Math.max(1, Math.abs(x2 - x1)), height: thickness, ink }];
  if (x1 === x2) return [{ kind: 'fill', x, y, width: thickness, height: Math.abs(y2 - y1), ink }];
  return [{ kind: 'stroke', x1, y1, x2, y2, thickness, ink }];
}
