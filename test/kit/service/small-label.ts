/** A template of a label of 50 × 25 mm with these fields. */
export function smallLabel<E>(name: string, fields: readonly string[], elements: E[]) {
  return { name, width: 50, height: 25, fields: fields.map((field) => ({ name: field })), elements };
}

/** A label that says its record's `n`. */
export const NUMBERED = smallLabel(
  'One',
  ['n'],
  [{ type: 'text', x: 2, y: 2, text: 'label {{n}}', size: 4 }],
);
