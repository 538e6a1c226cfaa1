/** The properties of elements with their kinds, choices and defaults, as the template's schema has them. */
import { z } from 'zod';
import {
  barcodeElement,
  boxElement,
  ellipseElement,
  imageElement,
  lineElement,
  textElement,
} from '../../src/contract/template.ts';
import type { ElementType, LabelElement } from './document.ts';
import { SYMBOLOGY_FACTS } from './symbologies.ts';

type PropertyKind =
  | { readonly kind: 'choice'; readonly options: readonly (string | number)[]; readonly fallback: unknown }
  | { readonly kind: 'flag' }
  | { readonly kind: 'number'; readonly fallback: unknown; readonly optional: boolean }
  | { readonly kind: 'words'; readonly optional: boolean };

const SHAPES = {
  text: textElement.shape,
  barcode: barcodeElement.shape,
  box: boxElement.shape,
  ellipse: ellipseElement.shape,
  line: lineElement.shape,
  image: imageElement.shape,
} satisfies Record<ElementType, Readonly<Record<string, z.ZodType>>>;

export function kindOf(type: ElementType, name: string): PropertyKind {
  const shape: Readonly<Record<string, z.ZodType>> = SHAPES[type];
  let schema: z.core.$ZodType | undefined = shape[name];
  let fallback: unknown;
  let optional = false;
  for (;;) {
    if (schema instanceof z.ZodDefault) {
      fallback = schema.def.defaultValue;
      schema = schema.def.innerType;
    } else if (schema instanceof z.ZodOptional) {
      optional = true;
      schema = schema.def.innerType;
    } else break;
  }
  if (schema instanceof z.ZodEnum) return { kind: 'choice', options: schema.options, fallback };
  if (schema instanceof z.ZodLiteral) {
    const options = schema.def.values.filter((value) => typeof value === 'number');
    return { kind: 'choice', options, fallback };
  }
  if (schema instanceof z.ZodBoolean) return { kind: 'flag' };
  if (schema instanceof z.ZodNumber) return { kind: 'number', fallback, optional };
  return { kind: 'words', optional };
}

export type Section = 'content' | 'place' | 'look' | 'more';

const PLACE = ['x', 'y', 'width', 'height'];
const GROUPS: Readonly<
  Record<ElementType, Readonly<Record<Exclude<Section, 'content'>, readonly string[]>>>
> = {
  text: {
    place: [...PLACE, 'rotation'],
    look: ['size', 'font', 'bold', 'italic', 'align', 'valign', 'overflow', 'reverse'],
    more: ['when', 'maxLines', 'lineSpacing', 'letterSpacing', 'render'],
  },
  barcode: {
    place: [...PLACE, 'rotation'],
    look: ['module', 'align', 'hri'],
    more: ['when', 'moduleDots', 'render'],
  },
  box: { place: PLACE, look: ['thickness', 'radius', 'filled', 'color'], more: ['when'] },
  ellipse: { place: PLACE, look: ['thickness', 'filled', 'color'], more: ['when'] },
  line: { place: ['x', 'y', 'x2', 'y2'], look: ['thickness', 'color'], more: ['when'] },
  image: { place: [...PLACE, 'rotation'], look: ['fit', 'halftone', 'image'], more: ['when'] },
};

/** The names of the properties in a section. A barcode has only those of its symbology. */
export function propertiesOf(element: LabelElement, section: Exclude<Section, 'content'>): readonly string[] {
  const names = GROUPS[element.type][section];
  if (element.type !== 'barcode') return names;
  const { kind, options } = SYMBOLOGY_FACTS[element.symbology];
  if (section === 'look') {
    return kind === 'fixed'
      ? ['align', ...options]
      : [...names.filter((name) => name !== 'hri' || kind === 'bars'), ...options];
  }
  if (section === 'place') return names.filter((name) => name !== 'height' || kind === 'bars');
  return names;
}
