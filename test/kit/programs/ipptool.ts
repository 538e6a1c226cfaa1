/** CUPS' own suites for IPP printers. */
import { execFile } from 'node:child_process';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createCanvas } from '@napi-rs/canvas';
import { expect } from 'vitest';
import { temporaryDirectory } from '../printers/bench-printer.ts';
import { pdfOf } from '../printers/ipp-bench.ts';

const SUITES = '/usr/share/cups/ipptool';

/** What a suite names. One that is missing ends the suite there, without a word in its results. */
export async function suites(): Promise<string> {
  const directory = await temporaryDirectory();
  for (const suite of ['ipp-1.1.test', 'ipp-2.0.test']) {
    await copyFile(join(SUITES, suite), join(directory, suite));
  }
  await writeFile(join(directory, 'label.pdf'), pdfOf(['ipptool']));
  await writeFile(join(directory, 'document-a4.pdf'), pdfOf(['a4'], { width: 210, height: 297 }));
  await writeFile(join(directory, 'document-letter.pdf'), pdfOf(['letter'], { width: 215.9, height: 279.4 }));
  const canvas = createCanvas(100, 100);
  canvas.getContext('2d').fillRect(20, 20, 60, 60);
  for (const name of ['color.jpg', 'gray.jpg'])
    await writeFile(join(directory, name), canvas.toBuffer('image/jpeg'));
  // Of a format that no printer of ours takes: only looked for, never sent.
  for (const name of ['document-a4.ps', 'document-letter.ps']) await writeFile(join(directory, name), '');
  return directory;
}

/** ipptool's exit code says little: its lines do. */
export async function ipptool(
  directory: string,
  version: string,
  uri: string,
  suite: string,
): Promise<string[]> {
  const args = ['-V', version, '-tI', '-f', join(directory, 'label.pdf'), uri, join(directory, suite)];
  const run = promisify(execFile)('ipptool', args, { timeout: 110_000, maxBuffer: 64 * 1024 * 1024 });
  const { stdout, stderr } = await run.catch((error: unknown) => {
    if (error instanceof Error && 'stdout' in error && 'stderr' in error) {
      return { stdout: String(error.stdout), stderr: String(error.stderr) };
    }
    throw error;
  });
  expect(stderr).toBe('');
  return stdout.split('\n');
}
