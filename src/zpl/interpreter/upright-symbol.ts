/** A symbol as dark rectangles, before it is turned and placed. */

/** A dark rectangle, in dots from the upper left corner of a symbol that is not turned. */
export type Dark = readonly [x: number, y: number, width: number, height: number];

/** A text that stands in the middle between two places along the bars, dots from the left. */
export interface LineText {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

export interface UprightSymbol {
  readonly dark: readonly Dark[];
  /** How far down the bars reach, dots, without the part of guard bars that stands in the line. */
  readonly tall: number;
  readonly line?: ReadLine;
}

/** The line that people read, above the bars or below them. Its size is in proportion to `module`, dots. */
export interface ReadLine {
  readonly texts: readonly LineText[];
  readonly isAbove: boolean;
  readonly module: number;
}

/** The size of the box around all rectangles, dots. */
export function extent(dark: readonly Dark[]): { across: number; down: number } {
  return {
    across: Math.max(...dark.map(([x, , width]) => x + width)),
    down: Math.max(...dark.map(([, y, , height]) => y + height)),
  };
}

/** The line that people read, as one text along all of the bars. */
export function readLine(
  text: string,
  { dark, module, isAbove }: { dark: readonly Dark[]; module: number; isAbove: boolean },
): ReadLine {
  return { texts: [{ text, from: 0, to: extent(dark).across }], isAbove, module };
}
