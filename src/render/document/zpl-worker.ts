/** Draws labels of ZPL documents, on a thread of its own: a label may take as much time and memory as it likes. */
import { JobFaultError } from '../../contract/fault.ts';
import { because, type Reason } from '../../contract/reason.ts';
import { plannedLabel } from '../../zpl/interpreter/planned-label.ts';
import { loadRasteriser } from '../../zpl/interpreter/rasteriser.ts';
import { createBitmap } from '../image/bitmap.ts';
import { PictureFault } from '../image/picture-fault.ts';
import { encodePng } from '../image/png-encoder.ts';
import { drawnPlan, MOST_RAW_DOTS, undrawableZpl } from '../output/raw-picture.ts';
import { servePages } from './page-worker.ts';

export interface ZplOrder {
  readonly zpl: Uint8Array;
  readonly dpi: number;
  /** The media, dots. The page has the size that the label itself says. */
  readonly width: number;
  readonly height: number;
}

/** Draws a label as a PNG. */
async function drawn({ zpl, dpi, width, height }: ZplOrder): Promise<Uint8Array> {
  const media = { width, height };
  const { settings } = plannedLabel(zpl, { ...media, dpi });
  const said = (name: 'PW' | 'LL', otherwise: number) =>
    Number.parseInt(settings.get(name) ?? '', 10) || otherwise;
  const page = { width: said('PW', media.width), height: said('LL', media.height) };
  const [count, most] = [page.width * page.height, MOST_RAW_DOTS].map((some) => Math.ceil(some / 1e6));
  if (page.width * page.height > MOST_RAW_DOTS) {
    throw new PictureFault(because('dots-many', { count: count ?? 0, most: most ?? 0 }));
  }
  const { plan, faults } = plannedLabel(zpl, { ...page, dpi });
  const [fault] = faults;
  if (fault !== undefined) throw undrawableZpl(fault);
  const bitmap =
    plan === undefined
      ? createBitmap(page.width, page.height)
      : await drawnPlan(plan, 0, page, (detail) => undrawableZpl(detail));
  return encodePng(bitmap, dpi);
}

function refusal(error: unknown): Reason {
  if (error instanceof JobFaultError && error.fault.reason !== undefined) return error.fault.reason;
  return because('document-zpl-broken', {});
}

await loadRasteriser();
servePages(drawn, refusal);
