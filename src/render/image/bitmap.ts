/** Bitmaps as in ZPL's ^GF: one bit for each dot, rows padded to bytes, the most significant bit left, 1 is black. */
/** Degrees, clockwise. */
export type Rotation = 0 | 90 | 180 | 270;

export interface Bitmap {
  readonly width: number;
  readonly height: number;
  /** Bytes in a row. */
  readonly stride: number;
  readonly data: Uint8Array;
}

export function createBitmap(width: number, height: number): Bitmap {
  const stride = Math.ceil(width / 8);
  return { width, height, stride, data: new Uint8Array(stride * height) };
}

export function isBlack(bitmap: Bitmap, x: number, y: number): boolean {
  return ((bitmap.data[y * bitmap.stride + (x >> 3)] ?? 0) & (0x80 >> (x & 7))) !== 0;
}

export function blacken(bitmap: Bitmap, x: number, y: number): void {
  const at = y * bitmap.stride + (x >> 3);
  bitmap.data[at] = (bitmap.data[at] ?? 0) | (0x80 >> (x & 7));
}

/** Blackens a rectangle, as far as it lies on the bitmap. */
export function blackenRect(bitmap: Bitmap, x: number, y: number, width: number, height: number): void {
  const left = Math.max(0, x);
  const right = Math.min(bitmap.width, x + width);
  const bottom = Math.min(bitmap.height, y + height);
  if (left >= right) return;
  const first = left >> 3;
  const last = (right - 1) >> 3;
  const head = 0xff >> (left & 7);
  const tail = (0xff << (7 - ((right - 1) & 7))) & 0xff;
  for (let row = Math.max(0, y); row < bottom; row++) {
    const start = row * bitmap.stride;
    const set = (at: number, bits: number) => {
      bitmap.data[at] = (bitmap.data[at] ?? 0) | bits;
    };
    if (first === last) set(start + first, head & tail);
    else {
      set(start + first, head);
      bitmap.data.fill(0xff, start + first + 1, start + last);
      set(start + last, tail);
    }
  }
}

/** Blackens the black dots of `top`, placed at (x, y), as far as they lie on the bitmap. With `white` it clears them. */
export function stampBitmap(bitmap: Bitmap, top: Bitmap, x: number, y: number, white: boolean): void {
  const toY = Math.min(top.height, bitmap.height - y);
  const shift = x & 7;
  const last = bitmap.stride - 1;
  // The last byte of a row of `top` may hold bits beyond its dots. They must not get into `bitmap`.
  const ours = (0xff << (7 - ((bitmap.width - 1) & 7))) & 0xff;
  const its = (0xff << (7 - ((top.width - 1) & 7))) & 0xff;
  for (let row = Math.max(0, -y); row < toY; row++) {
    const start = (y + row) * bitmap.stride;
    const put = (at: number, bits: number) => {
      if (bits === 0 || at < 0 || at > last) return;
      const inside = at === last ? bits & ours : bits;
      const byte = bitmap.data[start + at] ?? 0;
      bitmap.data[start + at] = white ? byte & ~inside : byte | inside;
    };
    for (let from = 0; from < top.stride; from++) {
      const bits = (top.data[row * top.stride + from] ?? 0) & (from === top.stride - 1 ? its : 0xff);
      if (bits === 0) continue;
      const at = (x >> 3) + from;
      put(at, bits >> shift);
      put(at + 1, (bits << (8 - shift)) & 0xff);
    }
  }
}

function from(width: number, height: number, black: (x: number, y: number) => boolean): Bitmap {
  const bitmap = createBitmap(width, height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) if (black(x, y)) blacken(bitmap, x, y);
  }
  return bitmap;
}

/** Turned clockwise. */
export function turnBitmap(bitmap: Bitmap, turn: Rotation): Bitmap {
  const { width: w, height: h } = bitmap;
  switch (turn) {
    case 0:
      return bitmap;
    case 90:
      return from(h, w, (x, y) => isBlack(bitmap, y, h - 1 - x));
    case 180:
      return from(w, h, (x, y) => isBlack(bitmap, w - 1 - x, h - 1 - y));
    case 270:
      return from(h, w, (x, y) => isBlack(bitmap, w - 1 - y, x));
  }
}

/** Each dot becomes a square of `scale` dots. */
export function scaleBitmap(bitmap: Bitmap, scale: number): Bitmap {
  if (scale === 1) return bitmap;
  const scaled = createBitmap(bitmap.width * scale, bitmap.height * scale);
  for (let y = 0; y < bitmap.height; y++) {
    const row = y * scale * scaled.stride;
    for (let x = 0; x < bitmap.width; x++) {
      if (!isBlack(bitmap, x, y)) continue;
      for (let i = x * scale; i < (x + 1) * scale; i++) {
        const at = row + (i >> 3);
        scaled.data[at] = (scaled.data[at] ?? 0) | (0x80 >> (i & 7));
      }
    }
    for (let copy = 1; copy < scale; copy++) {
      scaled.data.copyWithin(row + copy * scaled.stride, row, row + scaled.stride);
    }
  }
  return scaled;
}

/** The part of a bitmap inside a rectangle, which must lie on it. */
export function cropBitmap(bitmap: Bitmap, x: number, y: number, width: number, height: number): Bitmap {
  if (x === 0 && y === 0 && width === bitmap.width && height === bitmap.height) return bitmap;
  return from(width, height, (column, row) => isBlack(bitmap, x + column, y + row));
}
