/**
 * Why a value, an element or a record cannot be printed: one table of sentences by a stable code. What it is about this
 * time stands in the values, so that a page says it in the language of who looks. Nothing of a record's values is in it
 * that the sentence does not say.
 */
import { z } from 'zod';
import { REASONS } from './reason-table.ts';

export type ReasonCode = keyof typeof REASONS;

const MOST_VALUES = 20;

const alone = z.object({
  /** One of the table; what a newer version says too is its English message to this one. */
  code: z.string().max(100),
  values: z
    .record(z.string().max(100), z.union([z.string().max(1_000), z.number()]))
    .refine((values) => Object.keys(values).length <= MOST_VALUES),
});
const ending = <Last extends z.ZodType>(last: Last) =>
  alone.extend({ why: last.optional().catch(undefined) });
/** `why`: the reason that fills the slot of that name, for who says it in another language; of four at most. */
export const reason = ending(ending(ending(alone)));
export type Reason = z.infer<typeof reason>;
/** Beside the message that says the same: one that is too long, or that cannot be read, is left out. */
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

/** As `because`, of a sentence that ends with another one: what that says stands in its slot `why`. */
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

/** A schema's own message, whose reason is found again by it. For what is said at load, and never of a body. */
export function saying<Code extends ReasonCode>(code: Code, values: ValuesOf<Code>): string {
  const said = because(code, values);
  const text = reasonText(said);
  SAID_BY_SCHEMAS.set(text, said);
  return text;
}

export function saidBySchema(message: string): Reason | undefined {
  return SAID_BY_SCHEMAS.get(message);
}

/** For an error or an answer that takes a reason along, where there is one. */
export function reasonIn(reason: Reason | undefined): { reason?: Reason } {
  return reason === undefined ? {} : { reason };
}
