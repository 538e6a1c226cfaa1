/** Scales several elements as one, with the same factor in both directions. */
import { around, type Framed } from './align.ts';
import { change, changed, type LabelElement, type Scene, within } from './document.ts';
import { type Box, type Corner, pulled, scaledModule } from './frame.ts';

/** The least side of a scaled element, mm. */
const LEAST = 0.5;

/**
 * @param handle the corner that is pulled, of the frame around all elements; the opposite corner stays where it is
 * @param by mm
 * @param dpi the resolution at which a barcode's modules are whole dots
 */
export function scaled(
  scene: Scene,
  chosen: readonly Framed[],
  handle: Corner,
  by: { dx: number; dy: number },
  dpi: number,
): Scene {
  const whole = around(chosen.map(({ frame }) => frame));
  const to = pulled(whole, handle, by.dx, by.dy);
  const across = to.width / whole.width;
  const down = to.height / whole.height;
  // The side that was pulled further decides the factor.
  const factor = Math.abs(across - 1) >= Math.abs(down - 1) ? across : down;
  const still = {
    x: handle.includes('w') ? whole.x + whole.width : whole.x,
    y: handle.includes('n') ? whole.y + whole.height : whole.y,
  };
  const frames = new Map(chosen.map(({ key, frame }) => [key, frame]));
  return change(scene, [...frames.keys()], (element, { key }) => {
    const frame = frames.get(key);
    return frame === undefined || factor === 1 ? element : scaledElement(element, frame, still, factor, dpi);
  });
}

function scaledElement(
  element: LabelElement,
  frame: Box,
  still: { x: number; y: number },
  factor: number,
  dpi: number,
): LabelElement {
  const along = (at: number, from: number) => within(from + (at - from) * factor);
  const place = { x: along(element.x, still.x), y: along(element.y, still.y) };
  const side = (mm: number | undefined) => (mm === undefined ? undefined : within(mm * factor, LEAST));
  switch (element.type) {
    case 'line':
      return changed(element, {
        ...place,
        x2: along(element.x2, still.x),
        y2: along(element.y2, still.y),
      });
    case 'barcode':
      return changed(element, {
        ...place,
        ...(element.width !== undefined && { width: side(element.width) }),
        ...(element.height !== undefined && { height: side(element.height) }),
        ...scaledModule(element, factor, dpi),
      });
    case 'text': {
      const own = {
        ...(element.width !== undefined && { width: side(element.width) }),
        ...(element.height !== undefined && { height: side(element.height) }),
      };
      return changed(element, { ...place, ...own, size: within(element.size * factor, LEAST) });
    }
    default:
      return changed(element, { ...place, width: side(frame.width), height: side(frame.height) });
  }
}
