/** A label's size in the dots of a printer. */
import { dots } from '../contract/dots.ts';
import type { DesignedTemplate } from '../contract/template.ts';

export interface LabelGrid {
  readonly dpi: number;
  /** The label upright, dots. */
  readonly width: number;
  readonly height: number;
}

export function labelGrid(template: Pick<DesignedTemplate, 'width' | 'height'>, dpi: number): LabelGrid {
  return { dpi, width: dots(template.width, dpi), height: dots(template.height, dpi) };
}
