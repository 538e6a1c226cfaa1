/** A GS1 value of a template taken apart into its AIs, and put together again: `(01){{gtin}}(10){{lot}}`. */

/** An AI and the text after it, with its placeholders. */
export type AiElement = { readonly ai: string; readonly data: string };

/** Placeholders stay whole: brackets in the argument of a filter are none of the value's. */
const PIECE = /\{\{[^{}]*\}\}|[\s\S]/g;

/** Undefined: there are no AIs in it, or something before the first. An empty text has none yet. */
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

/** The value of a composite has the linear symbol's data first, then a `|`, then AIs; others are AIs throughout. */
export type Parts = { readonly head: string; readonly text: string };

export function partsOf(value: string, composite: boolean): Parts {
  if (!composite) return { head: '', text: value };
  const at = value.lastIndexOf('|');
  return at < 0 ? { head: value, text: '' } : { head: value.slice(0, at), text: value.slice(at + 1) };
}

export function joined({ head, text }: Parts, composite: boolean): string {
  return composite ? `${head}|${text}` : text;
}

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;

/** Whether anything in it changes from label to label. */
export function isVariable(data: string): boolean {
  return data.includes('{{');
}

/**
 * With samples for the placeholders. Undefined where a filter makes of them what only the service knows, or where a
 * field has no sample.
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
