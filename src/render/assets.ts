/** The images and fonts that a template brings for its elements. */
import type { DesignedTemplate } from '../contract/template.ts';
import { createImageSet, type ImageSet } from './image.ts';
import { createFontSet, type FontSet } from './tenant-fonts.ts';

export interface Assets {
  readonly images: ImageSet;
  readonly fonts: FontSet;
}

export function createAssets({ images, fonts }: DesignedTemplate): Assets {
  return { images: createImageSet(images), fonts: createFontSet(fonts) };
}
