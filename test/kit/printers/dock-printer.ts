/** A fast virtual printer of small labels, whose output the tests of packages and updates count. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createLogger } from '../../../src/log.ts';
import { VirtualZplPrinter } from '../../../src/virtual/zpl/zpl-printer.ts';

export class DockPrinter extends VirtualZplPrinter {
  readonly #outDir: string;

  /** @param speed labels per second */
  constructor(directory: string, speed: number) {
    const outDir = join(directory, 'printed');
    const logger = createLogger({ level: 'silent' });
    super({ name: 'dock', outDir, dpi: 203, width: 50, height: 25, speed, logger });
    this.#outDir = outDir;
  }

  get printed(): number {
    return readdirSync(this.#outDir).filter((name) => name.endsWith('.png')).length;
  }
}
