/** The temporary directory in which a package is put together. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export async function inStage<T>(make: (stage: string) => Promise<T>): Promise<T> {
  const stage = mkdtempSync(join(tmpdir(), 'platen-package-'));
  try {
    return await make(stage);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** Writes files, by their path from the stage. */
export function writeAll(stage: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(stage, path)), { recursive: true });
    writeFileSync(join(stage, path), content);
  }
}
