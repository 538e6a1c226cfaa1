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

/**
 * The most bytes of data that a printer of lines (TSPL, EPL2) gets in one command: the dots of a label, and a quarter more,
 * since others send them as wide as the print head. What completes a command that was cut off is so long.
 * @param media mm
 */
export function mostData({ width, height }: { width: number; height: number }, dpi: number): number {
  return Math.ceil((5 / 4) * (Math.ceil(dots(width, dpi) / 8) + 1) * dots(height, dpi));
}
