/** Reads the files that commands are given: templates and records. */
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, extname, resolve } from 'node:path';
import { buffer as readAll } from 'node:stream/consumers';
import { z } from 'zod';
import { LIMITS } from '../contract/limits.ts';
import { type LabelRecord, labelRecord } from '../contract/print-request.ts';
import { reasonText } from '../contract/reason.ts';
import { type Template, templateSchemaFor } from '../contract/template.ts';
import { InexactNumber, readJson as readExactly } from '../server/json-body.ts';
import { valueAt } from '../server/problems.ts';
import { whole } from '../server/stretches.ts';
import { programText } from '../zpl/raw/encoding.ts';
import { explain } from './explain.ts';
import { CommandFailure } from './failure.ts';
import { inWords } from './in-words.ts';

/** None, because the file is the user's own. */
const NO_LIMITS = { values: Number.POSITIVE_INFINITY, holders: Number.POSITIVE_INFINITY };

/** Refuses what is not UTF-8: otherwise a name in Latin-1 would be printed wrong, and without an error. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

const ZPL_FILES = new Set(['.zpl', '.prn']);
const DOCUMENT_FILES = new Set([...ZPL_FILES, '.epl', '.tspl', '.pdf', '.png', '.jpg', '.jpeg']);

/** A file's bytes; `-` is standard input. */
async function readWhole(file: string): Promise<Buffer> {
  try {
    return file === '-' ? await readAll(process.stdin) : await readFile(file);
  } catch (error) {
    throw new CommandFailure(`Cannot read ${file}: ${explain(error)}`);
  }
}

function documentAdvice(file: string): string {
  return DOCUMENT_FILES.has(extname(file).toLowerCase()) ? '\nA document is printed with --document.' : '';
}

function textIn(bytes: Uint8Array, file: string): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new CommandFailure(`${file} is not UTF-8: save it in that encoding.${documentAdvice(file)}`);
  }
}

/** A document, in base64. @throws CommandFailure */
export async function readDocument(file: string): Promise<string> {
  return (await readWhole(file)).toString('base64');
}

/** A `.zpl` file's text, in whatever code page it was written. */
async function readProgram(file: string): Promise<string> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw new CommandFailure(`Cannot read ${file}: ${explain(error)}`);
  });
  const text = programText(bytes);
  if (text === undefined)
    throw new CommandFailure(`${file} is neither UTF-8 nor in the code page that its ^CI names.`);
  return text;
}

/** As the service reads it: no digit of a number is lost, no name stands for two values. */
function jsonIn(bytes: Uint8Array, file: string, limits: typeof NO_LIMITS): unknown {
  const text = textIn(bytes, file);
  try {
    return whole(readExactly(text, limits));
  } catch (error) {
    throw new CommandFailure(`${file} is not JSON: ${explain(error)}${documentAdvice(file)}`);
  }
}

/**
 * A template as the service takes it: JSON, with the content of the files that its fonts and pictures name; a
 * `.zpl` or `.prn` file as raw ZPL named after the file.
 */
export async function readTemplateSource(file: string): Promise<unknown> {
  if (ZPL_FILES.has(extname(file).toLowerCase())) {
    return { name: basename(file, extname(file)), language: 'zpl', source: await readProgram(file) };
  }
  return await withFiles(jsonIn(await readWhole(file), file, NO_LIMITS), file === '-' ? '.' : dirname(file));
}

const embedded = z.looseObject({ file: z.string().min(1), data: z.undefined().optional() });
const image = z.looseObject({ type: z.literal('image') });
const holders = z.looseObject({
  fonts: z.array(z.unknown()).exactOptional(),
  images: z.array(z.unknown()).exactOptional(),
  elements: z.array(z.unknown()).exactOptional(),
});

/**
 * Fonts and pictures may name a file beside the template's: its data is put in. The rest stays as it is.
 * @throws CommandFailure for a file that cannot be read, or is larger than any template
 */
async function withFiles(source: unknown, folder: string): Promise<unknown> {
  const parsed = holders.safeParse(source);
  if (!parsed.success) return source;
  const filled = (kind: string) => async (one: unknown) => {
    const named = embedded.safeParse(one);
    if (!named.success) return one;
    const { file, ...rest } = named.data;
    return { ...rest, data: (await readBytes(kind, resolve(folder, file))).toString('base64') };
  };
  const [font, picture] = [filled('font'), filled('picture')];
  const element = async (one: unknown) => (image.safeParse(one).success ? await picture(one) : one);
  const { fonts, images, elements, ...rest } = parsed.data;
  return {
    ...rest,
    ...(fonts && { fonts: await Promise.all(fonts.map(font)) }),
    ...(images && { images: await Promise.all(images.map(picture)) }),
    ...(elements && { elements: await Promise.all(elements.map(element)) }),
  };
}

async function readBytes(kind: string, file: string): Promise<Buffer> {
  try {
    const { size } = await stat(file);
    if (size <= LIMITS.templateSource) return await readFile(file);
  } catch (error) {
    throw new CommandFailure(`Cannot read the ${kind} ${file}: ${explain(error)}`);
  }
  throw new CommandFailure(
    `The ${kind} ${file} is larger than a template may be, ${LIMITS.templateSource} bytes.`,
  );
}

/** @throws CommandFailure naming every field that is not as the template schema wants it */
export async function readTemplate(file: string): Promise<Template> {
  const source = await readTemplateSource(file);
  return parse(templateSchemaFor(source), source, file);
}

/** An array of records, or one record alone. */
export async function readRecords(file: string): Promise<LabelRecord[]> {
  return recordsIn(await readWhole(file), file, NO_LIMITS);
}

/**
 * The same of a file's bytes.
 * @param limits of the JSON; that of a stranger has those of the service
 * @throws CommandFailure
 */
export function recordsIn(bytes: Uint8Array, file: string, limits: typeof NO_LIMITS): LabelRecord[] {
  const json = jsonIn(bytes, file, limits);
  return parse(z.array(labelRecord).min(1), Array.isArray(json) ? json : [json], file);
}

function parse<T>(schema: z.ZodType<T>, value: unknown, file: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.flatMap((issue) => {
    const found = valueAt(value, issue.path);
    return found instanceof InexactNumber
      ? [{ ...issue, message: reasonText(found.reason) }]
      : inWords(issue, value);
  });
  throw new CommandFailure(`${file}:\n${z.prettifyError({ issues })}`);
}
