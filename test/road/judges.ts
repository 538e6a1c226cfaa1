/** Decoders that we did not write, for pictures of labels. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';

const wasm = createRequire(import.meta.url).resolve('zxing-wasm/reader/zxing_reader.wasm');
const ready = readFile(wasm).then((file) =>
  prepareZXingModule({ overrides: { wasmBinary: new Uint8Array(file).buffer }, fireImmediately: true }),
);

export interface Symbol {
  format: string;
  text: string;
}

/** Every barcode in a PNG file, in no particular order; the text is exactly what the symbol holds. */
export async function barcodesIn(picture: string): Promise<Symbol[]> {
  await ready;
  const results = await readBarcodes(new Uint8Array(await readFile(picture)), {
    tryHarder: true,
    tryRotate: true,
    tryInvert: false,
    tryDownscale: true,
    textMode: 'Plain',
    maxNumberOfSymbols: 20,
  });
  return results.filter((one) => one.isValid).map((one) => ({ format: one.format, text: one.text }));
}

/** The text in a PNG file, as tesseract reads it; `mode` is its page segmentation mode, `only` the characters it may see. */
export async function textIn(
  picture: string,
  language: string,
  options: { mode?: number; dpi?: number; only?: string } = {},
): Promise<string> {
  const args = [
    picture,
    '-',
    '-l',
    language,
    '--psm',
    String(options.mode ?? 6),
    '--dpi',
    String(options.dpi ?? 203),
  ];
  if (options.only !== undefined) args.push('-c', `tessedit_char_whitelist=${options.only}`);
  const { stdout } = await promisify(execFile)('tesseract', args, {
    timeout: 120_000,
    env: { ...process.env, OMP_THREAD_LIMIT: '1' },
  });
  return stdout.trim();
}
