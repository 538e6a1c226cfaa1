/** Splits a GS1 value of a template, such as `(01){{gtin}}(10){{lot}}`, into its AIs, and joins them again. */

/** An AI and the text after it, with its placeholders. */
export type AiElement = { readonly ai: string; readonly data: string };

/** A piece of the value: a whole placeholder, because brackets in a filter's argument do not count, or one character. */
const PIECE = /\{\{[^{}]*\}\}|[\s\S]/g;

/** @returns undefined if the text has no AIs or has anything before the first one; an empty array for an empty text */
export function elementsOf(text: string): AiElement[] | undefined {
  const elements: { ai: string; data: string }[] = [];
  let bracket: string | undefined;
  for (const [piece] of text.matchAll(PIECE)) {
    const last = elements.at(-1);
    if (piece === '(' && bracket === undefined) bracket = '';
    else if (piece === ')' && bracket !== undefined) {
      elements.push({ ai: bracket, data: '' });
      bracket = undefined;
    } else if (bracket !== undefined) bracket += piece;
    else if (last === undefined || piece === ')') return undefined;
    else last.data += piece;
  }
  const whole = bracket === undefined && elements.every(({ ai }) => /^\d{2,4}$/.test(ai));
  return whole ? elements : undefined;
}

export function textOfElements(elements: readonly AiElement[]): string {
  return elements.map(({ ai, data }) => `(${ai})${data}`).join('');
}

/** The value of a composite is the linear symbol's data, a `|`, and AIs. Any other value is only AIs. */
type Parts = { readonly head: string; readonly text: string };

export function partsOf(value: string, composite: boolean): Parts {
  if (!composite) return { head: '', text: value };
  const at = value.lastIndexOf('|');
  return at < 0 ? { head: value, text: '' } : { head: value.slice(0, at), text: value.slice(at + 1) };
}

export function joined({ head, text }: Parts, composite: boolean): string {
  return composite ? `${head}|${text}` : text;
}

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;
const PLACES = /(\|\s*number\s*:\s*['"]?)(\d+)/g;

/** Sets how many digits number filters write after the point, where that is `from` now. A filter after `times` counts otherwise. */
export function withPlaces(data: string, from: string, to: string): string {
  return data.replace(PLACEHOLDER, (whole) =>
    isScaled(whole)
      ? whole
      : whole.replace(PLACES, (filter, head: string, places: string) =>
          places === from ? head + to : filter,
        ),
  );
}

/** For each number filter, how many digits it writes after the point; without those after `times`, of which that says nothing. */
export function placesOf(data: string): string[] {
  const placeholders = [...data.matchAll(PLACEHOLDER)].flatMap(([whole]) => (isScaled(whole) ? [] : [whole]));
  return placeholders.flatMap((whole) => [...whole.matchAll(PLACES)].map(([, , places = '']) => places));
}

function isScaled(placeholder: string): boolean {
  return /\|\s*times\s*:/.test(placeholder);
}

/** Whether the data has a placeholder, and so changes from label to label. */
export function isVariable(data: string): boolean {
  return data.includes('{{');
}

/**
 * The data with samples in place of its placeholders.
 * @returns undefined if a placeholder has a filter, which only the service can apply, or a field has no sample
 */
export function sampled(data: string, samples: ReadonlyMap<string, string>): string | undefined {
  let known = true;
  const filled = data.replace(PLACEHOLDER, (_, inside: string) => {
    const sample = samples.get(inside.trim());
    known &&= sample !== undefined;
    return sample ?? '';
  });
  return known ? filled : undefined;
}
