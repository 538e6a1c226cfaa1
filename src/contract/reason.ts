/**
 * Why a value, an element or a record cannot be printed: a stable code stands for a sentence of one table,
 * and `values` fill its slots, so that a page can say it in its reader's language. A reason holds nothing of
 * a record's values that its sentence does not say.
 */
import { z } from 'zod';
import { REASONS } from '../words/reason-table.ts';

export type ReasonCode = keyof typeof REASONS;

const MOST_VALUES = 20;

const alone = z.object({
  /** A code of the table. Of a code that only a newer version knows, pages show the English message. */
  code: z.string().max(100),
  values: z
    .record(z.string().max(100), z.union([z.string().max(1_000), z.number()]))
    .refine((values) => Object.keys(values).length <= MOST_VALUES),
});
const ending = <Last extends z.ZodType>(last: Last) =>
  alone.extend({ why: last.optional().catch(undefined) });
/** `why`: the reason in the slot of that name, to be said in another language; at most four deep in all. */
export const reason = ending(ending(ending(alone)));
export type Reason = z.infer<typeof reason>;
/** A reason beside a message that says the same: it is left out if it is too long or cannot be read. */
export const readableReason = reason.optional().catch(undefined);

type Slots<Text extends string> = Text extends `${string}{${infer Slot}}${infer Rest}`
  ? Slot | Slots<Rest>
  : never;
type ReasonWithWhy = {
  [Code in ReasonCode]: 'why' extends Slots<(typeof REASONS)[Code]> ? Code : never;
}[ReasonCode];
type ValuesOf<Code extends ReasonCode> = Readonly<Record<Slots<(typeof REASONS)[Code]>, string | number>>;

export function because<Code extends ReasonCode>(code: Code, values: ValuesOf<Code>): Reason {
  return { code, values };
}

/** As `because`, for a sentence that ends with another reason, which fills the slot `why`. */
export function becauseOf<Code extends ReasonWithWhy>(
  code: Code,
  values: Omit<ValuesOf<Code>, 'why'>,
  why: Reason,
): Reason {
  return { code, values: { ...values, why: reasonText(why) }, why };
}

const SENTENCES: Readonly<Record<string, string>> = REASONS;

/** A sentence of a language's table, filled in. */
export function sentence(text: string, values: Reason['values']): string {
  return text.replaceAll(/\{(\w+)\}/g, (slot, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : slot,
  );
}

/** In English, as messages have it. */
export function reasonText({ code, values }: Reason): string {
  return sentence(SENTENCES[code] ?? code, values);
}

const SAID_BY_SCHEMAS = new Map<string, Reason>();

/** A schema's message, by which `saidBySchema` finds its reason. Never for a body's values: all are kept. */
export function saying<Code extends ReasonCode>(code: Code, values: ValuesOf<Code>): string {
  const said = because(code, values);
  const text = reasonText(said);
  SAID_BY_SCHEMAS.set(text, said);
  return text;
}

export function saidBySchema(message: string): Reason | undefined {
  return SAID_BY_SCHEMAS.get(message);
}

/** Spreads a reason into an error or an answer, if there is one. */
export function reasonIn(reason: Reason | undefined): { reason?: Reason } {
  return reason === undefined ? {} : { reason };
}
