/**
 * Texts of the largest size that is let in, for what once took the square of their length. Run as a worker, it
 * works off each that it is told the name of, and says so.
 */
import { parentPort } from 'node:worker_threads';
import { z } from 'zod';
import { parseDeviceId } from '../drivers/transports/device-id.ts';
import { LIMITS } from '../src/contract/limits.ts';
import { designedTemplate } from '../src/contract/template.ts';
import { fieldName } from '../src/contract/template-members.ts';
import { templateProblems } from '../src/render/template-check.ts';
import { readJson } from '../src/server/json-body.ts';
import { whole } from '../src/server/stretches.ts';
import { decimalText, parseDecimal } from '../src/values/decimal.ts';
import { compileFilters } from '../src/values/filters.ts';
import { withoutCredentials } from '../src/words/without-credentials.ts';
import { planLabel } from '../src/zpl/interpreter/label-plan.ts';
import { PrinterMemory } from '../src/zpl/interpreter/printer-memory.ts';
import { defaultSyntax, ZplStream } from '../src/zpl/stream.ts';

const BODY = LIMITS.bodyBytes - 100;
const VALUE = LIMITS.valueLength;
const MESSAGE = 2 * 1024 * 1024;

function filled(piece: string, length: number): string {
  return piece.repeat(Math.floor(length / piece.length));
}

function body(piece: string): void {
  whole(readJson(`[${filled(`${piece},`, BODY)}1]`));
}

/** What is refused; how long that takes is the question. */
function refused(text: string): void {
  try {
    whole(readJson(text));
  } catch {
    return;
  }
  throw new Error('it was taken');
}

/** What the virtual printer does with a message, but for drawing. */
function zpl(message: string): void {
  const memory = new PrinterMemory(16 * 1024 * 1024);
  const media = { width: 800, height: 1200, dpi: 203 };
  new ZplStream(defaultSyntax(), 8 * 1024 * 1024, (event) => {
    if (event.kind === 'format') planLabel(event.format, memory, media);
  }).push(Buffer.from(message, 'latin1'));
}

function stored(count: number): string {
  return Array.from({ length: count }, (_, index) => `^XA^DFR:${'A'.repeat(10)}${index}^FS^XZ`).join('');
}

async function template(text: string): Promise<void> {
  const element = { type: 'text', x: 1, y: 1, width: 90, height: 90, text, size: 4 };
  const parsed = designedTemplate.safeParse({ name: 'x', width: 100, height: 100, elements: [element] });
  if (parsed.success) await templateProblems(parsed.data);
}

export const TEXTS: Readonly<Record<string, () => unknown>> = {
  'a number of zeros with a one at its end': () => whole(readJson(`{"x":1${'0'.repeat(300_000)}1}`)),
  'a number as long as the body': () => whole(readJson(`[${'7'.repeat(BODY)}]`)),
  'zeros behind the point': () => whole(readJson(`[0.${'0'.repeat(BODY)}1]`)),
  'exact numbers of 20 digits': () => body('10000000000000000000'),
  'numbers of 20 digits that are not exact': () => body('12345678901234567891'),
  'exact numbers of 390 digits': () => body(`1.${'0'.repeat(388)}`),
  exponents: () => body('-1.5e-100'),
  'names with backslashes': () => whole(readJson(`{"${filled('\\\\\\"', BODY)}":12345678901234567891}`)),
  'arrays in arrays': () => refused('['.repeat(BODY)),
  'objects in objects': () => refused(filled('{"a":', BODY)),
  'arrays without number': () => refused(`[${filled('[],', BODY)}1]`),
  'members without number': () => refused(`{${filled('"a":1,', BODY)}"b":1}`),
  'a name twice, behind all others': () =>
    refused(`[${filled(`{"a":"${'a'.repeat(170)}"},`, BODY - 20)}{"b":1,"b":2}]`),
  'a name that cannot be unescaped, and colons': () =>
    refused(`{"${'a'.repeat(BODY / 2)}\\x"${':'.repeat(BODY / 2 - 10)}`),
  'an escape, a long name and colons': () =>
    refused(`["\\n",{"${'a'.repeat(BODY / 2)}"${':'.repeat(BODY / 2 - 20)}`),
  'a string without an end': () => refused(`["${'a'.repeat(BODY)}`),
  'quotes that are none': () => refused(`["${filled('\\\\"', BODY)}`),
  'thousands of a long number': () =>
    decimalText(parseDecimal('7'.repeat(VALUE)) ?? { units: 0n, scale: 0 }, ',', '.'),
  'blanks in a filter': () => compileFilters(`|upper${' '.repeat(VALUE)}`),
  'blanks in a placeholder that is none': () => template(`{{a|upper${' '.repeat(VALUE - 20)}|}}`),
  'colons in a placeholder that is none': () => template(`{{a|default${filled(' : a', VALUE - 20)}}}`),
  'a field name of blanks': () => fieldName.safeParse(`a${' '.repeat(BODY)}{`),
  'a template of opening braces': () => template('{'.repeat(VALUE)),
  'a template of braces in braces': () => template('{{'.repeat(VALUE / 4) + '}}'.repeat(VALUE / 4)),
  'a template of placeholders without an end': () => template(filled('{{a|', VALUE)),
  'digits in ^SN': () => zpl(`^XA^FO1,1^SN${'1'.repeat(MESSAGE)}a1a,1^FS^XZ`),
  'digits and letters in ^SN': () => zpl(`^XA^FO1,1^SN${filled('1a', MESSAGE)},1^FS^XZ`),
  'wildcards in ^ID': () => zpl(`${stored(900)}^XA^ID${filled('*A', 200_000)}B.*^FS^XZ`),
  'many ^ID with wildcards': () => zpl(`${stored(900)}^XA${filled('^IDR:*Z.*^FS', MESSAGE)}^XZ`),
  'many objects': () => zpl(Array.from({ length: 60_000 }, (_, index) => `^XA^DFR:${index}^XZ`).join('')),
  'many recalled formats': () =>
    zpl(`^XA^DFR:A^FS${filled('^FO1,1', MESSAGE / 2)}^XZ^XA${filled('^XFR:A', MESSAGE / 2)}^XZ`),
  'commands of a device ID': () => parseDeviceId(`CMD:${' '.repeat(VALUE)}x,;`),
  'an address in an error': () => withoutCredentials(`${filled('a+', BODY)} redis://a:b@host`),
};

parentPort?.on('message', async (name) => {
  await TEXTS[z.string().parse(name)]?.();
  parentPort?.postMessage(name);
});
