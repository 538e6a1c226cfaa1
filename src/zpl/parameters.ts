/** What a command's parameters say, whatever a stranger wrote there. */
import type { ZplCommand } from './stream.ts';

/** In printable ASCII; every other byte is left out. */
export function text(command: ZplCommand): string {
  return command.params.toString('latin1').replace(/[\x00-\x1f\x7f-\xff]/g, '');
}

/** The whole number that a parameter begins with, brought within the limits; `fallback`: it does not begin with one. */
export function whole(value: string | undefined, fallback: number, min: number, max: number): number {
  const number = Number.parseInt(value ?? '', 10);
  return Number.isNaN(number) ? fallback : Math.min(Math.max(number, min), max);
}
