/**
 * The files in a template: pictures and fonts, base64. A page that draws a template again and again sends a file once;
 * then the file's name stands in its place, which the service has given to it.
 */
import { z } from 'zod';

/** A hash of the file. No base64 has a colon, so a name is never taken for a file. */
export const fileName = z.string().regex(/^sha256:[0-9a-f]{64}$/);

/** From as many characters on a file is given a name. */
export const NAMED_FILE = 4_096;

/**
 * A template with other data for its files; one that fits no schema is left as it is where it does not fit.
 * @param how gets the data, or the name in its place, and where it is, as a JSON pointer
 */
export function mapFiles(template: unknown, how: (data: string, pointer: string) => string): unknown {
  if (!isRecord(template)) return template;
  const mapped: Record<string, unknown> = { ...template };
  for (const list of ['images', 'fonts', 'elements']) {
    const things = mapped[list];
    if (!Array.isArray(things)) continue;
    mapped[list] = things.map((thing: unknown, at) => {
      if (!isRecord(thing) || typeof thing.data !== 'string') return thing;
      return { ...thing, data: how(thing.data, `/${list}/${at}/data`) };
    });
  }
  return mapped;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
