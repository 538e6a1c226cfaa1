/** What is chosen for a virtual printer, whatever it speaks. */
import type { Logger } from '../../log.ts';

export interface VirtualPrinterOptions {
  /** What the printer calls itself. */
  readonly name: string;
  /** TCP port; 0 (default): any free one. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Where labels are written; made if it is not there. */
  readonly outDir: string;
  readonly dpi: 203 | 300 | 600;
  /** Media, mm. */
  readonly width: number;
  readonly height: number;
  /** Inches per second; 0 or Infinity (default): as fast as it can. */
  readonly speed?: number;
  /** Default: made up once, and kept in the directory. */
  readonly serial?: string;
  readonly model?: string;
  /** Memory for stored formats and graphics, bytes; default 16 MiB. */
  readonly storage?: number;
  readonly logger?: Logger;
}

export const DEFAULT_STORAGE = 16 * 1024 * 1024;

/** How long a label of this length takes, ms. @param speed inches per second; 0 or Infinity: no time */
export function labelTime(lengthMm: number, speed = 0): number {
  return speed > 0 ? (lengthMm / 25.4 / speed) * 1_000 : 0;
}
