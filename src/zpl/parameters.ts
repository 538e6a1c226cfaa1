/** Reads the parameters of ZPL commands. The ZPL is untrusted, so a parameter may hold anything. */
import type { ZplCommand } from './stream.ts';

/** The command's parameters as printable ASCII. Every other byte is left out. */
export function text(command: ZplCommand): string {
  return command.params.toString('latin1').replace(/[\x00-\x1f\x7f-\xff]/g, '');
}

/** The whole number that a parameter begins with, limited to `min` and `max`. If there is none, it is `fallback`. */
export function whole(value: string | undefined, fallback: number, min: number, max: number): number {
  const number = Number.parseInt(value ?? '', 10);
  return Number.isNaN(number) ? fallback : Math.min(Math.max(number, min), max);
}
