/** Draws labels of ZPL documents, on a thread of its own: a label may take as much time and memory as it likes. */
import { parentPort } from 'node:worker_threads';
import { JobFaultError } from '../../contract/fault.ts';
import { because, type Reason } from '../../contract/reason.ts';
import { plannedLabel } from '../../zpl/interpreter/planned-label.ts';
import { loadRasteriser } from '../../zpl/interpreter/rasteriser.ts';
import { createBitmap } from '../image/bitmap.ts';
import { encodePng } from '../image/png-encoder.ts';
import { drawnPlan, MOST_RAW_DOTS, undrawableZpl } from '../output/raw-picture.ts';
import type { PageReply } from './page-thread.ts';

export interface ZplOrder {
  readonly zpl: Uint8Array;
  readonly dpi: number;
  /** The media, dots. The page has the size that the label itself says. */
  readonly width: number;
  readonly height: number;
}

/** A PNG. */
type ZplReply = PageReply<Uint8Array>;

class Refused extends Error {
  readonly reason: Reason;
  constructor(reason: Reason) {
    super(reason.code);
    this.reason = reason;
  }
}

async function drawn({ zpl, dpi, ...media }: ZplOrder): Promise<Uint8Array> {
  const { settings } = plannedLabel(zpl, { ...media, dpi });
  const said = (name: 'PW' | 'LL', otherwise: number) =>
    Number.parseInt(settings.get(name) ?? '', 10) || otherwise;
  const page = { width: said('PW', media.width), height: said('LL', media.height) };
  const [count, most] = [page.width * page.height, MOST_RAW_DOTS].map((some) => Math.ceil(some / 1e6));
  if (page.width * page.height > MOST_RAW_DOTS) {
    throw new Refused(because('dots-many', { count: count ?? 0, most: most ?? 0 }));
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
  if (error instanceof Refused) return error.reason;
  if (error instanceof JobFaultError && error.fault.reason !== undefined) return error.fault.reason;
  return because('document-zpl-broken', {});
}

const port = parentPort;
if (port === null) throw new Error('zpl-worker.ts runs as a worker thread');

async function serve({ id, ...order }: ZplOrder & { readonly id: number }): Promise<void> {
  const since = process.threadCpuUsage();
  const answer = await drawn(order).then(
    (made) => ({ made }),
    (error: unknown) => ({ refused: refusal(error) }),
  );
  const { user, system } = process.threadCpuUsage(since);
  port?.postMessage({ id, worked: (user + system) / 1_000, ...answer } satisfies ZplReply);
}

await loadRasteriser();
port.on('message', (request: ZplOrder & { readonly id: number }) => void serve(request));
port.postMessage('loaded');
