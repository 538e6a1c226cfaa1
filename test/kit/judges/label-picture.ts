import { setImmediate } from 'node:timers/promises';
import type { DisplayList } from '../../../src/render/display-list.ts';
import { encodePng } from '../../../src/render/image/png-encoder.ts';
import { rasterBitmap } from '../../../src/render/output/raster.ts';

/** A label as a PNG, as its page would be made (`rasterizePage`). */
export async function rasterize(list: DisplayList): Promise<Uint8Array> {
  await setImmediate();
  return encodePng(rasterBitmap(list), list.dpi);
}
