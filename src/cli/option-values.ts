/** How the command line reads option values: numbers are checked, repeatable options are collected. */
import { InvalidArgumentError } from 'commander';

/** A whole number within bounds. */
export function numberFrom(low: number, high: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isInteger(value) || value < low || value > high) {
      throw new InvalidArgumentError(`expected a whole number from ${low} to ${high}`);
    }
    return value;
  };
}

export function positiveNumber(text: string): number {
  const value = Number(text);
  if (!(Number.isFinite(value) && value > 0)) throw new InvalidArgumentError('expected a number over 0');
  return value;
}

/** An option that may be repeated. */
export function append(value: string, list: string[]): string[] {
  return [...list, value];
}
