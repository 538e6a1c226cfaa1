/** How the command line reads option values: numbers are checked, repeatable options are collected. */
import { InvalidArgumentError } from 'commander';

/** A whole number within bounds. @param high left out where the service has the limit, and says it when it refuses */
export function numberFrom(low: number, high = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isInteger(value) || value < low || value > high) {
      const bounds = high === Number.MAX_SAFE_INTEGER ? `of at least ${low}` : `from ${low} to ${high}`;
      throw new InvalidArgumentError(`expected a whole number ${bounds}`);
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
