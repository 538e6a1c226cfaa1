/**
 * Millimetres to whole dots, by the dpi as written: 203 dpi are 203 dots an inch, though such printers have 8
 * dots a mm (203.2). The difference is one dot in five inches; what matters is that all code counts alike.
 */
export function dots(mm: number, dpi: number): number {
  return Math.round((mm * dpi) / 25.4);
}

/** Dots to millimetres. */
export function millimetres(count: number, dpi: number): number {
  return (count * 25.4) / dpi;
}
