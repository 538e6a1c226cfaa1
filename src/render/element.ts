/** Compiles one element of a template: everything that does not depend on a record is done here, once. */
import type { DesignedTemplate, TemplateElement } from '../contract/template.ts';
import type { Defaults } from '../values/built-ins.ts';
import { isNo, ValueFault } from '../values/filters.ts';
import { compileText } from '../values/merge.ts';
import type { Assets } from './assets.ts';
import type { Item } from './display-list.ts';
import { requireItemDots } from './dot-limit.ts';
import { imageLayout } from './image/image.ts';
import type { LabelGrid } from './label-grid.ts';
import { ElementFault, type ElementLayout, type ElementPlace } from './place.ts';
import { boxItems, ellipseItems, lineItems } from './shapes.ts';
import { barcodeLayout } from './symbol/barcode-layout.ts';
import { textLayout } from './text/text-element.ts';

/**
 * @param index of the element in the template
 * @throws ElementFault; JobFaultError `template-invalid` (placeholders)
 */
export async function compileElement(
  template: DesignedTemplate,
  index: number,
  grid: LabelGrid,
  scope: Defaults,
  assets: Assets,
): Promise<ElementLayout> {
  const element = template.elements[index];
  if (element === undefined) throw new RangeError(`The template has no element ${index}`);
  const place: ElementPlace = {
    template: template.name,
    pointer: `/elements/${index}`,
    what: element.type === 'barcode' ? `barcode ${element.symbology}` : element.type,
  };
  try {
    const drawn = refusingValues(await layoutOf(element, place, grid, scope, assets), place);
    return element.when === undefined ? drawn : conditional(element.when, drawn, place, scope);
  } catch (error) {
    // Placeholders whose value is the same for every label of a job are filled in here, so a filter may already refuse a value.
    throw elementFault(error, place);
  }
}

async function layoutOf(
  element: TemplateElement,
  place: ElementPlace,
  grid: LabelGrid,
  scope: Defaults,
  assets: Assets,
): Promise<ElementLayout> {
  switch (element.type) {
    case 'text':
      return textLayout(element, place, grid, scope, assets.fonts);
    case 'barcode':
      return barcodeLayout(element, place, grid, scope);
    case 'box':
      return always(boxItems(element, grid.dpi), place);
    case 'ellipse':
      return always(ellipseItems(element, grid.dpi), place);
    case 'line':
      return always(lineItems(element, grid.dpi), place);
    case 'image':
      return await imageLayout(element, place, grid.dpi, scope, assets.images);
  }
}

/** @throws ElementFault */
function always(items: Item[], place: ElementPlace): ElementLayout {
  requireItemDots(items, place);
  return { fields: [], layout: () => items };
}

/** Adds the element to the error of a filter that cannot take a value. Returns any other error as it is. */
function elementFault(error: unknown, place: ElementPlace): unknown {
  if (!(error instanceof ValueFault)) return error;
  return new ElementFault('value-invalid', place, error.said, { field: error.field });
}

function refusingValues(inner: ElementLayout, place: ElementPlace): ElementLayout {
  return {
    fields: inner.fields,
    layout: (record, quick) => {
      try {
        return inner.layout(record, quick);
      } catch (error) {
        throw elementFault(error, place);
      }
    },
  };
}

/** Values of an element that is not drawn are not checked: they may be empty or wrong. */
function conditional(
  when: string,
  inner: ElementLayout,
  place: ElementPlace,
  scope: Defaults,
): ElementLayout {
  const condition = compileText(when, scope, `${place.pointer}/when`);
  const nothing: Item[] = [];
  // Made once, even if not every record draws it, so that all records share the items.
  const fixed = inner.fields.length === 0 ? inner.layout({}, false) : undefined;
  return refusingValues(
    {
      fields: [...condition.fields, ...inner.fields],
      layout: (record, quick) =>
        isNo(condition.fill(record)) ? nothing : (fixed ?? inner.layout(record, quick)),
    },
    place,
  );
}
