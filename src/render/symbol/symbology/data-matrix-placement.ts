/** Data Matrix: where the bits of the codewords go, and what surrounds them (ISO/IEC 16022:2006, annex F). */
import { type Bitmap, blacken, createBitmap } from '../../image/bitmap.ts';

/** A size of the symbol (ISO/IEC 16022:2006, table 7). */
export interface DataMatrixSize {
  readonly rows: number;
  readonly columns: number;
  /** Rows and columns of a data region, which lies between two borders. */
  readonly regionRows: number;
  readonly regionColumns: number;
  /** Data codewords. */
  readonly data: number;
  /** Error correction codewords, and how many blocks they are in. */
  readonly check: number;
  readonly blocks: number;
}

/** The borders, and for each bit of the codewords the index of its dot: row × 8 × bytes per row + column. */
interface Placement {
  readonly borders: Bitmap;
  readonly dots: Uint16Array;
}

/** The placements of all sizes drawn so far; all sizes together take half a megabyte. */
const placements = new Map<DataMatrixSize, Placement>();

export function placementOf(size: DataMatrixSize): Placement {
  const known = placements.get(size);
  if (known !== undefined) return known;
  const { rows, columns, regionRows, regionColumns, data, check } = size;
  const borders = createBitmap(columns, rows);
  const [tall, wide] = [regionRows + 2, regionColumns + 2];
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < columns; x++) {
      const solid = y % tall === tall - 1 || x % wide === 0;
      const dashed = (y % tall === 0 && x % 2 === 0) || (x % wide === wide - 1 && y % 2 === 1);
      if (solid || dashed) blacken(borders, x, y);
    }
  }
  const [mapRows, mapColumns] = [(rows / tall) * regionRows, (columns / wide) * regionColumns];
  /** Maps the data's rows and columns to those of the symbol. */
  const y = (row: number) => row + 2 * Math.floor(row / regionRows) + 1;
  const x = (column: number) => column + 2 * Math.floor(column / regionColumns) + 1;
  const dots = new Uint16Array((data + check) * 8);
  const taken = new Uint8Array(mapRows * mapColumns);
  mapBits(mapRows, mapColumns, taken, (bit, row, column) => {
    dots[bit] = y(row) * 8 * borders.stride + x(column);
  });
  if (taken.at(-1) === 0) {
    // Four modules at the end belong to no codeword (annex F.3).
    blacken(borders, x(mapColumns - 2), y(mapRows - 2));
    blacken(borders, x(mapColumns - 1), y(mapRows - 1));
  }
  const placement = { borders, dots };
  placements.set(size, placement);
  return placement;
}

/** A codeword's bits, the highest first. */
interface Shape {
  readonly rows: readonly number[];
  readonly columns: readonly number[];
}

/** The usual shape, relative to the codeword's corner (annex F.3, figure F.2). */
const UTAH: Shape = { rows: [-2, -2, -1, -1, -1, 0, 0, 0], columns: [-2, -1, -2, -1, 0, -2, -1, 0] };
/** Shapes in corners of the symbol; negative numbers count from its end (annex F.3, figures F.3 to F.6). */
const CORNERS = [
  { rows: [-1, -1, -1, 0, 0, 1, 2, 3], columns: [0, 1, 2, -2, -1, -1, -1, -1] },
  { rows: [-3, -2, -1, 0, 0, 0, 0, 1], columns: [0, 0, 0, -4, -3, -2, -1, -1] },
  { rows: [-3, -2, -1, 0, 0, 1, 2, 3], columns: [0, 0, 0, -2, -1, -1, -1, -1] },
  { rows: [-1, -1, 0, 0, 0, 1, 1, 1], columns: [0, -1, -3, -2, -1, -3, -2, -1] },
] as const;

/** Walks over the data regions as the standard does (annex F.3); calls `tell` with the place of each bit. */
function mapBits(
  rows: number,
  columns: number,
  taken: Uint8Array,
  tell: (bit: number, row: number, column: number) => void,
): void {
  let bit = 0;
  const put = (row: number, column: number) => {
    taken[row * columns + column] = 1;
    tell(bit++, row, column);
  };
  const corner = (shape: Shape) => {
    shape.rows.forEach((row, at) => {
      const column = shape.columns[at] ?? 0;
      put(row < 0 ? row + rows : row, column < 0 ? column + columns : column);
    });
  };
  const utah = (atRow: number, atColumn: number) => {
    if (taken[atRow * columns + atColumn] !== 0) return;
    UTAH.rows.forEach((down, at) => {
      let row = atRow + down;
      let column = atColumn + (UTAH.columns[at] ?? 0);
      if (row < 0) {
        row += rows;
        column += 4 - ((rows + 4) % 8);
      }
      if (column < 0) {
        column += columns;
        row += 4 - ((columns + 4) % 8);
      }
      put(row, column);
    });
  };
  let row = 4;
  let column = 0;
  do {
    if (row === rows && column === 0) corner(CORNERS[0]);
    if (row === rows - 2 && column === 0 && columns % 4 !== 0) corner(CORNERS[1]);
    if (row === rows - 2 && column === 0 && columns % 8 === 4) corner(CORNERS[2]);
    if (row === rows + 4 && column === 2 && columns % 8 === 0) corner(CORNERS[3]);
    do {
      if (row < rows && column >= 0) utah(row, column);
      row -= 2;
      column += 2;
    } while (row >= 0 && column < columns);
    row += 1;
    column += 3;
    do {
      if (row >= 0 && column < columns) utah(row, column);
      row += 2;
      column -= 2;
    } while (row < rows && column >= 0);
    row += 3;
    column += 1;
  } while (row < rows || column < columns);
}
