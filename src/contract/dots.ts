/**
 * Millimetres to whole dots, by the dpi as written: 203 dpi are 203 dots an inch, though printers that are called
 * so have 8 dots a mm (203.2). One dot in four inches; what matters is that everything counts the same.
 */
export function dots(mm: number, dpi: number): number {
  return Math.round((mm * dpi) / 25.4);
}

/** Dots to millimetres. */
export function millimetres(count: number, dpi: number): number {
  return (count * 25.4) / dpi;
}
