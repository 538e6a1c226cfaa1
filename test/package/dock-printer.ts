/** The printer that what is installed prints on: two labels a second, so that a job of many is under way for a while. */
import { join } from 'node:path';
import { createLogger } from '../../src/log.ts';
import { VirtualZplPrinter } from '../../src/virtual/zpl/zpl-printer.ts';

/** @param out where its labels go */
export function dockPrinter(out: string): VirtualZplPrinter {
  return new VirtualZplPrinter({
    name: 'dock',
    outDir: join(out, 'printed'),
    dpi: 203,
    width: 50,
    height: 25,
    speed: 2,
    logger: createLogger({ level: 'silent' }),
  });
}
