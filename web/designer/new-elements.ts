/** New elements: each prints something, and lies in the middle of the label. */
import { type ElementType, type LabelElement, within } from './document.ts';
import { SYMBOLOGY_FACTS } from './symbologies.ts';

type Size = { width: number; height: number };

/** @param text content of a new text */
export function newElement(type: Exclude<ElementType, 'image'>, label: Size, text: string): LabelElement {
  const at = (width: number, height: number) => ({
    x: within((label.width - width) / 2),
    y: within((label.height - height) / 2),
  });
  const side = (part: number, most: number) => within(Math.min(most, label.width * part, label.height * 0.8));
  switch (type) {
    case 'text': {
      const size = side(0.12, 4);
      const width = within(label.width * 0.6);
      return { type, ...at(width, size * 1.2), width, height: within(size * 1.2), text, size };
    }
    case 'barcode': {
      const height = side(0.5, 10);
      const { example } = SYMBOLOGY_FACTS.code128;
      return { type, symbology: 'code128', ...at(36, height), value: example, height, hri: 'below' };
    }
    case 'box':
    case 'ellipse': {
      const [width, height] = [side(0.4, 20), side(0.3, 10)];
      return { type, ...at(width, height), width, height };
    }
    case 'line': {
      const { x, y } = at(label.width * 0.6, 0);
      return { type, x, y, x2: within(x + label.width * 0.6), y2: y };
    }
  }
}

/** @param data of a picture file, base64 */
export function newPicture(data: string, label: Size): LabelElement {
  const side = within(Math.min(20, label.width * 0.4, label.height * 0.6));
  const [x, y] = [within((label.width - side) / 2), within((label.height - side) / 2)];
  return { type: 'image', x, y, width: side, height: side, data };
}

type Barcode = Extract<LabelElement, { type: 'barcode' }>;

/** Changes the symbology: drops options but a shared `ratio`, gives bars a height, replaces the example. */
export function withSymbology(element: Barcode, symbology: Barcode['symbology']): Barcode {
  const [before, after] = [SYMBOLOGY_FACTS[element.symbology], SYMBOLOGY_FACTS[symbology]];
  const gone: ReadonlySet<string> = new Set([
    ...before.options.filter((option) => option !== 'ratio' || !after.options.includes(option)),
    ...(after.kind === 'bars' ? [] : ['height', 'hri']),
  ]);
  const rest = Object.fromEntries(Object.entries(element).filter(([name]) => !gone.has(name)));
  const { type, x, y } = element;
  return {
    ...rest,
    ...{ type, x, y, symbology },
    value: element.value === before.example ? after.example : element.value,
    ...(after.kind === 'bars' && element.height === undefined && { height: 10 }),
  };
}
