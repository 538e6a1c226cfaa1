/** Decoders that we did not write, for pictures that lie on disk. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { readSymbols } from './judges.ts';

/** Every barcode in a PNG file, in no particular order; the text is exactly what the symbol holds. */
export async function barcodesIn(picture: string): Promise<{ format: string; text: string }[]> {
  const symbols = await readSymbols(await readFile(picture));
  return symbols.filter((one) => one.isValid).map(({ format, text }) => ({ format, text }));
}

/** The text in a PNG file, as tesseract reads it; `only`: the characters that it may see. */
export async function textIn(
  picture: string,
  language: string,
  options: { dpi?: number; only?: string } = {},
): Promise<string> {
  const args = [picture, '-', '-l', language, '--psm', '6', '--dpi', String(options.dpi ?? 203)];
  if (options.only !== undefined) args.push('-c', `tessedit_char_whitelist=${options.only}`);
  const { stdout } = await promisify(execFile)('tesseract', args, { timeout: 120_000 });
  return stdout.trim();
}
