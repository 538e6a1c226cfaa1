/**
 * Limits the dots of a label, and of one element of it, before anything is drawn: a label may be 2 × 2 m, and
 * at 600 dpi that would be two thousand million dots.
 */
import { JobFaultError } from '../contract/fault.ts';
import { because, reasonText } from '../contract/reason.ts';
import type { Item, Rect } from './display-list.ts';
import { ElementFault, type ElementPlace } from './place.ts';

/** The most dots of a label or a sheet: 100 mm × 1.8 m at 600 dpi. */
const MOST_DOTS = 100_000_000;
/** The most dots that are drawn in one piece: A4 at 500 dpi. Each dot takes about six bytes until the thread is idle. */
export const MOST_ELEMENT_DOTS = 25_000_000;

/**
 * @param what whose size it is
 * @param most the most dots; given where a label is not drawn in parts, and so may have fewer
 * @throws JobFaultError `template-invalid`
 */
export function requireDots(
  what: 'label' | 'sheet',
  { width, height }: Size,
  dpi: number,
  most = MOST_DOTS,
): void {
  if (width * height <= most) return;
  const element = what === 'label' ? '/width' : '/sheet/width';
  const reason = because('label-dots-many', {
    what,
    count: inMillions(width * height),
    dpi,
    most: inMillions(most),
  });
  throw new JobFaultError('template-invalid', `${element}: ${reasonText(reason)}`, { element, reason });
}

/** Limits what is drawn in one piece. Dots off the label count too. @throws ElementFault `template-invalid` */
export function requireElementDots({ width, height }: Size, place: ElementPlace): void {
  if (width * height <= MOST_ELEMENT_DOTS) return;
  const reason = because('dots-many', {
    count: inMillions(width * height),
    most: inMillions(MOST_ELEMENT_DOTS),
  });
  throw new ElementFault('template-invalid', place, reason);
}

/** Limits shapes and lines. @throws ElementFault `template-invalid` */
export function requireItemDots(items: readonly Item[], place: ElementPlace): void {
  for (const item of items) {
    if (item.kind === 'stroke') {
      const { x1, y1, x2, y2, thickness } = item;
      const reach = 2 * thickness;
      requireElementDots({ width: Math.abs(x2 - x1) + reach, height: Math.abs(y2 - y1) + reach }, place);
    } else if ('width' in item) requireElementDots(item, place);
  }
}

type Size = Pick<Rect, 'width' | 'height'>;

function inMillions(dots: number): number {
  return Math.ceil(dots / 1e6);
}
