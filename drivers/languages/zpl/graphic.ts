/** A bitmap as fields of ZPL: ^GFA (ZPL II Programming Guide, "Graphic Field"). */
import { type Bitmap, cropBitmap } from '../../../src/render/image/bitmap.ts';
import { graphicCommand, graphicData } from '../../../src/zpl/graphic-data.ts';

/** The largest byte count that ^GF takes. */
const MOST_BYTES = 99_999;

/**
 * The fields that draw a bitmap at (x, y), in bands that ^GF can hold. What lies off the label is left out, because ^FO takes
 * no negative coordinates.
 * @param reverse white dots on black (^FR)
 */
export function graphicField(
  bitmap: Bitmap,
  x: number,
  y: number,
  label: { width: number; height: number },
  reverse = false,
): string {
  const left = Math.max(0, -x);
  const top = Math.max(0, -y);
  const width = Math.min(bitmap.width, label.width - x) - left;
  const height = Math.min(bitmap.height, label.height - y) - top;
  if (width <= 0 || height <= 0) return '';
  const visible = cropBitmap(bitmap, left, top, width, height);
  const rows = Math.max(1, Math.floor(MOST_BYTES / visible.stride));
  let fields = '';
  for (let from = 0; from < height; from += rows) {
    const band = cropBitmap(visible, 0, from, width, Math.min(rows, height - from));
    const at = `^FO${x + left},${y + top + from}${reverse ? '^FR' : ''}`;
    const data = graphicData(band.data, band.stride);
    fields += `${at}${graphicCommand(band.data.length, band.stride, data)}^FS`;
  }
  return fields;
}
