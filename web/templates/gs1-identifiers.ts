/**
 * The application identifiers in everyday use and the format of their data (GS1 General Specifications,
 * section 3.2). Any other is typed as a number. The service knows all of them, and checks both kinds.
 */

/**
 * `digits`: exactly `length` digits, of which the last may be a check digit; `upTo`: 1 to `length` digits;
 * `date`: YYMMDD; `amount`: `least` to `length` digits, and the AI's last digit says how many of them follow
 * the point; `text`: at most `length` characters of GS1 set 82.
 */
export type AiFormat =
  | { readonly kind: 'digits'; readonly length: number; readonly check?: true }
  | { readonly kind: 'upTo'; readonly length: number }
  | { readonly kind: 'date' }
  | { readonly kind: 'amount'; readonly length: number; readonly least: number }
  | { readonly kind: 'text'; readonly length: number };

const digits = (length: number): AiFormat => ({ kind: 'digits', length });
const checked = (length: number): AiFormat => ({ kind: 'digits', length, check: true });
const upTo = (length: number): AiFormat => ({ kind: 'upTo', length });
const text = (length: number): AiFormat => ({ kind: 'text', length });
const date: AiFormat = { kind: 'date' };
const measure: AiFormat = { kind: 'amount', length: 6, least: 6 };
const price: AiFormat = { kind: 'amount', length: 15, least: 1 };

/** An `n` in an AI stands for the digit that says how many digits follow the point. */
export const IDENTIFIERS = {
  '00': checked(18),
  '01': checked(14),
  '02': checked(14),
  '10': text(20),
  '11': date,
  '12': date,
  '13': date,
  '15': date,
  '16': date,
  '17': date,
  '20': digits(2),
  '21': text(20),
  '22': text(20),
  '240': text(30),
  '241': text(30),
  '250': text(30),
  '251': text(30),
  '30': upTo(8),
  '310n': measure,
  '311n': measure,
  '312n': measure,
  '313n': measure,
  '315n': measure,
  '320n': measure,
  '330n': measure,
  '37': upTo(8),
  '390n': price,
  '392n': price,
  '400': text(30),
  '402': checked(17),
  '403': text(30),
  '410': checked(13),
  '412': checked(13),
  '413': checked(13),
  '414': checked(13),
  '420': text(20),
  '422': digits(3),
  '7003': digits(10),
  '710': text(20),
  '712': text(20),
  '8005': digits(6),
  '8020': text(25),
  '8200': text(70),
  '90': text(30),
  '91': text(90),
  '99': text(90),
} as const satisfies Readonly<Record<string, AiFormat>>;

export type Identifier = keyof typeof IDENTIFIERS;

/** The AI as the table has it: `310n` for `3103`. */
export function identifierOf(ai: string): Identifier | undefined {
  if (isIdentifier(ai)) return ai;
  const amount = `${ai.slice(0, 3)}n`;
  return /^\d{3}[0-9]$/.test(ai) && isIdentifier(amount) ? amount : undefined;
}

function isIdentifier(ai: string): ai is Identifier {
  return Object.hasOwn(IDENTIFIERS, ai);
}

export function formatOf(ai: string): AiFormat | undefined {
  const known = identifierOf(ai);
  return known === undefined ? undefined : IDENTIFIERS[known];
}

/** The AI for a new element: weights and measures get three digits after the point, prices two. */
export function newAi(identifier: Identifier): string {
  const format = formatOf(identifier);
  if (format?.kind !== 'amount') return identifier;
  return identifier.replace('n', format.least > 1 ? '3' : '2');
}

/** Whether the AI's data has a predefined length, so that no FNC1 follows it (GS1 General Specifications). */
export function hasOwnLength(ai: string): boolean {
  return /^(?:0[0-4]|1[1-9]|20|3[1-6]|41)/.test(ai);
}
