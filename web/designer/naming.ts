/** Names of elements for lists and screen readers: the type, and how the content begins. */
import { t } from '../texts/texts.ts';
import type { LabelElement } from './document.ts';

const LONGEST = 40;

export function nameOf(element: LabelElement): string {
  const { element: words } = t.value.designer;
  const content =
    element.type === 'text'
      ? element.text
      : element.type === 'barcode'
        ? element.value
        : (own(element) ?? '');
  const line = content.replaceAll(/\s+/g, ' ').trim();
  const short = line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
  return short === '' ? words[element.type] : `${words[element.type]} ${short}`;
}

function own(element: LabelElement): string | undefined {
  return element.type === 'image' ? element.image : undefined;
}
