/** Files that commands are given: templates and records. */
import { readFile } from 'node:fs/promises';
import { basename, dirname, extname, resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { z } from 'zod';
import { type LabelRecord, labelRecord } from '../contract/print-request.ts';
import { designedTemplate, rawZplTemplate, type Template } from '../contract/template.ts';
import { CommandFailure, explain } from './failure.ts';

/** A file's text; `-` is standard input. */
async function readText(file: string): Promise<string> {
  try {
    return file === '-' ? await readAll(process.stdin) : await readFile(file, 'utf8');
  } catch (error) {
    throw new CommandFailure(`Cannot read ${file}: ${explain(error)}`);
  }
}

async function readJson(file: string): Promise<unknown> {
  const text = await readText(file);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CommandFailure(`${file} is not JSON: ${explain(error)}`);
  }
}

/**
 * A template as the service takes it: JSON, with the files in it that its fonts name; a `.zpl` file as raw ZPL named
 * after the file.
 */
export async function readTemplateSource(file: string): Promise<unknown> {
  if (extname(file).toLowerCase() === '.zpl') {
    return { name: basename(file, extname(file)), language: 'zpl', source: await readText(file) };
  }
  return await withFonts(await readJson(file), file === '-' ? '.' : dirname(file));
}

const fontFile = z.looseObject({ file: z.string().min(1), data: z.undefined().optional() });

/** A font may name a file beside the template's, in place of its data. What is no such font stays as it is. */
async function withFonts(source: unknown, folder: string): Promise<unknown> {
  const parsed = z.looseObject({ fonts: z.array(z.unknown()) }).safeParse(source);
  if (!parsed.success) return source;
  const fonts = parsed.data.fonts.map(async (font) => {
    const named = fontFile.safeParse(font);
    if (!named.success) return font;
    const { file, ...rest } = named.data;
    return { ...rest, data: (await readBytes(resolve(folder, file))).toString('base64') };
  });
  return { ...parsed.data, fonts: await Promise.all(fonts) };
}

async function readBytes(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new CommandFailure(`Cannot read the font ${file}: ${explain(error)}`);
  }
}

/** Of the two kinds of templates the one that is meant, so that faults are told of that kind. */
export function templateSchemaFor(source: unknown): z.ZodType<Template> {
  const raw = z.looseObject({ language: z.literal('zpl') }).safeParse(source).success;
  return raw ? rawZplTemplate : designedTemplate;
}

/** @throws CommandFailure naming every field that is not as the template schema wants it */
export async function readTemplate(file: string): Promise<Template> {
  const source = await readTemplateSource(file);
  return parse(templateSchemaFor(source), source, file);
}

/** An array of records, or one record alone. */
export async function readRecords(file: string): Promise<LabelRecord[]> {
  const json = await readJson(file);
  return parse(z.array(labelRecord).min(1), Array.isArray(json) ? json : [json], file);
}

function parse<T>(schema: z.ZodType<T>, value: unknown, file: string): T {
  const result = schema.safeParse(value);
  if (!result.success) throw new CommandFailure(`${file}:\n${z.prettifyError(result.error)}`);
  return result.data;
}
