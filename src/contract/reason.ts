/**
 * Why a value, an element or a record cannot be printed: one table of sentences by a stable code. What it is about this
 * time stands in the values, so that a page says it in the language of who looks. Nothing of a record's values is in it
 * that the sentence does not say.
 */
import { z } from 'zod';

/** `{slot}`: what is filled in. */
export const REASONS = {
  // Values of barcodes.
  'value-empty': 'the value is empty',
  'check-digit-wrong': 'the check digit is wrong: expected {expected}',
  'check-digit-none': 'the value has no modulo 11 check digit',
  'digits-only': '{code} holds digits only',
  'digits-even': '{code} holds an even number of digits, a check digit included',
  'digits-or-checked': '{code} holds {digits} digits, or {checked} with the check digit',
  'digits-dashes': '{code} holds digits and - only',
  'ascii-only': '{code} holds the characters of ASCII only',
  'latin1-only': '{code} holds the characters of Latin-1 only',
  'capitals-only': '{code} holds digits, capitals and {marks} only',
  'capitals-or-full': '{code} holds digits, capitals and {marks} only; "fullAscii" gives it all of ASCII',
  'alphanumeric-only': '{code} holds digits and capitals only, without blanks',
  'characters-lacking': '{code} does not hold all of the characters',
  'too-long': '{code} holds {most} characters, AIs and separators included',
  'too-long-for-symbol': 'the value is longer than a {code} can hold',
  'add-on': 'after the + of {code} stand the 2 or 5 digits of its add-on',
  'upce-digits': 'UPC-E holds 6 digits, 7 with the number system (0 or 1), or 8 with the check digit',
  'code32-digits': 'Code 32 holds 8 digits, or 9 with the check digit, after an A or without it',
  'codabar-characters': 'Codabar holds digits and -$:/.+ only, between start and stop characters A to D',
  'codabar-ends': 'Codabar has a start and a stop character, or both are left to be A',
  'pharmacode-range': 'Pharmacode holds a number from 3 to 131070',
  'pzn-none': 'there is no such PZN: it has no check digit',
  'hibc-empty': 'the value has nothing but the flag of HIBC',
  surrogate: 'half of a surrogate pair cannot be encoded',
  'databar-gtin': 'this GS1 DataBar holds AI (01) and nothing else',
  'databar-limited': 'AI (01): GS1 DataBar Limited holds a GTIN that starts with 0 or 1 only',
  'composite-parts': 'a composite is the linear symbol’s data, a "|", and AIs in brackets',
  'composite-digits': 'before the "|" stand the digits, the check digit among them',
  'imb-digits':
    'Intelligent Mail holds 20 digits of tracking code, the second of them 0 to 4, and 0, 5, 9 or 11 of routing code',
  'postnet-digits': 'POSTNET holds 5, 9 or 11 digits, without the check digit',
  'planet-digits': 'PLANET holds 11 or 13 digits, without the check digit',
  'japan-post':
    'Japan Post holds digits, capitals and hyphens only: 7 digits of postal code, and an address number',
  'australia-post':
    'Australia Post holds a format control code (11, 45, 59, 62), 8 digits, and customer information',
  // GS1 element strings.
  'gs1-characters': 'only the characters of GS1 CSET 82 can be in an element string, and no blanks',
  'gs1-brackets': 'expected AIs in brackets, each followed by its data',
  'gs1-no-ai': 'what stands in brackets is no AI: expected 2 to 4 digits',
  // As the checker of GS1 data says it; the code tells what it is.
  'gs1-unknown-ai': 'AI ({ai}): {said}',
  'gs1-month': 'AI ({ai}): {said}',
  'gs1-day': 'AI ({ai}): {said}',
  'gs1-date-length': 'AI ({ai}): {said}',
  'gs1-not-digits': 'AI ({ai}): {said}',
  'gs1-too-short': 'AI ({ai}): {said}',
  'gs1-too-long': 'AI ({ai}): {said}',
  'gs1-character': 'AI ({ai}): {said}',
  'gs1-check-character': 'AI ({ai}): {said}',
  'gs1-time': 'AI ({ai}): {said}',
  'gs1-rule': 'AI ({ai}): {said}',
  'gs1-check-digit': 'AI ({ai}): the check digit is wrong: expected {expected}',
  // Texts, and elements in their place.
  'no-glyph': 'no font has the character {character}',
  'font-absent':
    'the character {character} needs the font {font}, which is not installed: install platen-fonts-cjk',
  'text-too-large': 'the text does not fit its box even at {smallest} mm',
  'text-over-edge': 'the text runs over the edge of the label',
  'symbol-too-wide': 'the symbol with its quiet zones needs {needs} mm and has {has} mm: {short} dots short',
  'symbol-over-edge':
    'the symbol with its quiet zones needs {needs} mm in its reading direction, and reaches over the edge of the label',
  'hri-too-long': 'the human-readable line ({hri}) is too long',
  'image-of-record': 'the template has no image of the name in the record',
  'image-unknown': 'the template has no image {image}',
  'text-too-long': 'the text is longer than {most} characters with its values',
  'value-too-long': 'the text is longer than {most} characters',
  'label-too-long': 'the label has more than {most} characters with its values',
  // What filters take.
  'not-a-number': 'the value is not a decimal number such as 12.5, of at most {most} digits',
  'not-a-date': 'the value is not a date such as 2026-11-21 or 2026-11-21T07:45:00Z (ISO 8601)',
  'date-without-time': 'the value is a date without a time',
  'date-beyond': 'the date is beyond the years 1 to 9999',
  'no-check-digit': 'the value has characters that {kind} has no check digit for',
  // Templates.
  'not-a-placeholder': '{found} is not a placeholder: {why}',
  'placeholder-open': 'it is not closed: expected {placeholder}',
  'placeholder-name': 'expected {placeholder} with the name of a field',
  'filter-expected': 'expected "| filter:argument" at {found}',
  'filters-many': 'more than {most} filters',
  'filter-unknown': 'there is no filter "{name}": there are {choices}',
  'filter-arguments': '"{name}" takes {count} argument(s)',
  'filter-arguments-between': '"{name}" takes {least} to {most} argument(s)',
  'filter-argument-long': 'an argument of "{name}" is longer than {most} characters',
  'filter-refused': '"{name}": {why}',
  'filter-replaces-nothing': 'nothing to replace',
  'filter-check-digit': 'no check digit "{kind}": there are {choices}',
  'filter-date': '"{pattern}" is nothing of a date',
  'filter-fill': 'what fills up is one character',
  'filter-number': '"{text}" is not a number',
  'filter-whole-number': '"{text}" is not a whole number from {least} to {most}',
  'filter-language': '"{tag}" is not a language tag',
  'no-time-zone': 'there is no time zone "{zone}"',
  'field-unused': 'the field is not used',
  'field-built-in': '{field} is a built-in field',
  'field-undeclared': 'the field "{field}" is not declared in "fields"',
  'condition-constant': '{found} is the same for every label: expected a placeholder, {placeholder}',
  'dpi-mismatch': 'the template was designed for {designed} dpi, the format has {format} dpi',
  'label-mismatch': 'the label is {width} × {height} mm, the media {mediaWidth} × {mediaHeight} mm',
  'sheet-mismatch': 'the sheet is {width} × {height} mm, the media {mediaWidth} × {mediaHeight} mm',
  'left-out': 'line {line}: {command} is left out: {why}',
  'begins-no-command': 'it begins no command; in data it is written with ^FH',
  'set-up': "the printer's set-up is for the printer's format to say",
  'set-up-member': "the printer's set-up is for the printer's format to say ({member})",
  'quiet-zone': '{other} is printed on the symbol or in its quiet zone',
  'off-label': 'the element is not on the label',
  'over-edge': 'the element reaches over the edge of the label',
  'glyph-borrowed': 'the font has no {character}: that character is set in a packaged font',
  'font-unused': 'no text is set in the face',
  'image-unused': 'no element shows the image',
  'module-rounded': 'a module of {module} mm is printed as {printed} mm at {dpi} dpi',
  // Pictures and fonts of templates.
  'picture-kind': 'the picture is none of PNG, JPEG and SVG (in UTF-8)',
  'picture-broken': 'the picture cannot be decoded',
  'picture-no-size': 'the picture has no size',
  'picture-cut-off': 'the picture is cut off',
  'picture-large': 'the picture has {width} × {height} pixels; the limit is {most} in all',
  'pictures-large': 'the pictures of the template have more than {most} pixels together',
  'svg-element': 'an SVG on a label has no {element}: turn it into paths',
  'svg-refers': 'an SVG on a label refers to nothing outside of itself',
  'svg-elements': 'the SVG has more than {most} elements: simplify it',
  'font-unknown': 'the template has no font {font}',
  'face-unknown': 'the font {font} has no {style} face',
  'font-refused': 'the font {font}: {why}',
  'font-coloured': 'it is a colour font: expected outlines',
  'font-symbols': 'it has no Unicode characters: a symbol font is none for text',
  'font-kind': 'it is no TTF or OTF',
  'font-of-browsers': 'it is {kind}, a font for browsers: expected TTF or OTF',
  'font-collection': 'it is a collection of fonts: expected TTF or OTF, one font',
  'font-broken': 'it is broken: {detail}',
  'font-points': 'a glyph has more than {most} points',
  // Members of a body.
  'member-unknown': 'unknown field {member}',
  'member-missing': 'it is missing',
  'expected-number': 'expected a number',
  'expected-whole-number': 'expected a whole number',
  'expected-text': 'expected a text',
  'expected-boolean': 'expected true or false',
  'expected-list': 'expected a list',
  'expected-object': 'expected an object',
  'expected-one-of': 'expected one of {choices}',
  'at-least': 'expected at least {least}',
  'at-most': 'expected at most {most}',
  above: 'expected more than {least}',
  below: 'expected less than {most}',
  'least-characters': 'expected at least {least} characters',
  'most-characters': 'expected at most {most} characters',
  'least-items': 'expected at least {least} of them',
  'most-items': 'expected at most {most} of them',
  'whole-number': 'expected a whole number from {least} to {most}',
  'number-between': 'expected a number from {least} to {most}',
  'setting-none': 'the printer has no such setting',
  'records-between': 'expected an array of 1 to {most} records',
  'text-of': 'expected a string of 1 to {most} characters',
  'record-value': 'expected a string of at most {most} characters, a number, a boolean or null',
  'most-fields': 'expected at most {most} fields',
  'printer-wanted': 'expected printerId, printer, or both',
  'login-characters': 'expected 1 to 200 characters without spaces',
  'name-characters': 'expected 1 to 200 printable characters',
  'tenant-characters': 'expected 1 to 63 of a-z, 0-9 and "-"',
  'field-name': 'a field name has no braces, no "|", no control characters, and no space at either end',
  'fields-same-name': 'two fields have the same name',
  'images-same-name': 'two images have the same name',
  rotation: 'expected 0, 90, 180 or 270',
  'symbology-none': 'expected one of {choices}',
  'symbology-near': 'there is no such symbology: did you mean {meant}?',
  'rmqr-version': 'a version of rMQR is R, its rows, x and its columns: R11x43',
  'font-name': '"condensed" and "sans" are the fonts that Platen brings: expected another name',
  'font-size': 'a font has at most {most} bytes: cut it down to the characters that labels need',
  'font-faces': 'two faces of a font are both bold, or both italic, or neither',
  'fonts-size': 'the fonts of a template have at most {most} bytes together',
  // What agents cannot know.
  'sending-cut-off':
    'Sending was cut off, and no counter of the printer tells which labels of this job came out',
  'no-longer-known': 'The printer no longer knows its job, and has no counter that could tell what came out',
  'partly-completed': 'The printer completed a job of which it may have had only a part',
  'ended-uncounted': 'The printer {phase} its job {job} ({reasons}), and cannot say how many labels came out',
  'pages-miscounted':
    'The printer counts {counted} more {what} where {least} to {most} were expected: it printed something else too, or lost count',
  dropped:
    'Of what the printer took, {missing} or more are neither counted nor waiting: labels were canceled at its panel, or it dropped them. Which ones, only a look at what is out tells',
  'journal-lost': 'The job was being printed by this agent, whose journal is lost',
  'taken-over': 'The job was being printed by the agent {agent}',
  'language-gone': 'The printer does not take {language} any more',
  'refused-by-printer': 'The printer refused the job: {code}',
  'queue-lost-job': 'The queue has lost the job, and some of it may have been printed before',
  'queue-lost-report':
    'The agent is done with the job, but the queue has lost its report of how the job ended',
  'not-confirmed': 'Everything was sent, but this printer cannot say what it printed: look at its labels.',
} as const;

export type ReasonCode = keyof typeof REASONS;

const MOST_VALUES = 20;

const alone = z.object({
  /** One of the table; what a newer version says too is its English message to this one. */
  code: z.string().max(100),
  values: z
    .record(z.string().max(100), z.union([z.string().max(1_000), z.number()]))
    .refine((values) => Object.keys(values).length <= MOST_VALUES),
});
/** `why`: the reason that fills the slot of that name, for who says it in another language; of three at most. */
export const reason = alone.extend({
  why: alone
    .extend({ why: alone.optional().catch(undefined) })
    .optional()
    .catch(undefined),
});
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
  said: Said,
): Reason {
  const { reason: why } = reasonIn(said);
  return { code, values: { ...values, why: textOf(said) }, ...(why === undefined ? {} : { why }) };
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

/** What an error says: a reason of the table, or words that only who made the template understands. */
export type Said = Reason | string;

export function textOf(said: Said): string {
  return typeof said === 'string' ? said : reasonText(said);
}

/** For an error or an answer that takes a reason along, where there is one. */
export function reasonIn(said: Said | undefined): { reason?: Reason } {
  return said === undefined || typeof said === 'string' ? {} : { reason: said };
}
