/** Reads data and parameters of barcodes as the printer reads them. */
import { gs1 } from '../../values/check-digits.ts';
import { zeroSuppressed } from '../../values/upce.ts';
import { GraphicError } from '../graphic-data.ts';

export function isYes(value: string | undefined, fallback: 'Y' | 'N'): boolean {
  return (value?.trim() || fallback).toUpperCase() === 'Y';
}

/** @throws GraphicError */
export function requireData(name: string, data: string, pattern: RegExp): void {
  if (!pattern.test(data)) throw new GraphicError(`^${name} cannot hold this data`);
}

/**
 * The last `length` digits of the data, filled up with zeros in front, as the printer does for EAN and UPC.
 * @throws GraphicError
 */
export function padded(name: string, data: string, length: number): string {
  requireData(name, data, /^\d+$/);
  return data.padStart(length, '0').slice(-length);
}

export const checked = (digits: string): string => digits + gs1(digits);

/**
 * The number system and six digits of a UPC-E. By the guide, the data are the numbers of a manufacturer and an item, of five
 * digits each. Printers also take the six digits of the symbol, and the number system (0 or 1) before either.
 * @throws GraphicError
 */
export function upce(name: string, data: string): string {
  requireData(name, data, /^(?:\d{1,10}|[01]\d{10})$/);
  if (data.length === 6) return `0${data}`;
  if (data.length === 7 && /^[01]/.test(data)) return data;
  const whole = data.length === 11 ? data : `0${data.padStart(10, '0')}`;
  const six = zeroSuppressed(whole.slice(1, 6), whole.slice(6));
  if (six === undefined) throw new GraphicError(`^${name} cannot hold this data: no UPC-E stands for it`);
  return whole.slice(0, 1) + six;
}
