/** What the tests of the virtual IPP printer share: a printer, our IPP client, and documents. */
import { once } from 'node:events';
import { PDFDocument } from '@napi-rs/canvas';
import { onTestFinished } from 'vitest';
import { bwipMatrix } from '../../../src/render/symbol/bwip.ts';
import {
  type IppJobReport,
  type PrintedPage,
  VirtualIppPrinter,
  type VirtualIppPrinterOptions,
} from '../../../src/virtual/ipp/ipp-printer.ts';
import { JobClient } from '../wire/job-client.ts';
import { ON_BENCH, startOnBench, temporaryDirectory } from './bench-printer.ts';

export const never = new AbortController().signal;
export const PDF = 'application/pdf';
export const ZPL = 'application/vnd.zebra-zpl';
export const ANY = 'application/octet-stream';

export interface IppBench {
  printer: VirtualIppPrinter;
  client: JobClient;
  outDir: string;
  labels: PrintedPage[];
  /** Waits until `count` labels are out, counted from the start. */
  printed(count: number): Promise<PrintedPage[]>;
  /** Waits until a job is in a state. */
  reached(id: number, state: IppJobReport['state']): Promise<IppJobReport>;
}

/** A started printer, silent on the network, stopped when the test ends. */
export async function ippBench(options: Partial<VirtualIppPrinterOptions> = {}): Promise<IppBench> {
  const outDir = options.outDir ?? (await temporaryDirectory());
  const printer = new VirtualIppPrinter({ ...ON_BENCH, announce: false, ...options, outDir });
  const states = new Map<number, IppJobReport>();
  printer.on('job', (job) => states.set(job.id, job));
  const out = await startOnBench<PrintedPage>(printer);
  const client = new JobClient(printer.uri, { user: 'lab' });
  onTestFinished(() => client.close());
  return {
    printer,
    client,
    outDir,
    ...out,
    async reached(id, state) {
      for (;;) {
        const job = states.get(id);
        if (job?.state === state) return job;
        await once(printer, 'job');
      }
    },
  };
}

const POINTS_PER_MM = 72 / 25.4;

/** A PDF with a page for each text: a symbol of it, 1 mm a module, 5 mm from the top left corner. */
export function pdfOf(
  texts: readonly string[],
  options: { width?: number; height?: number; bcid?: 'datamatrix' | 'qrcode' } = {},
): Buffer {
  const { width = 50, height = 25, bcid = 'datamatrix' } = options;
  const document = new PDFDocument({});
  for (const text of texts) {
    const context = document.beginPage(Math.ceil(width * POINTS_PER_MM), Math.ceil(height * POINTS_PER_MM));
    context.scale(POINTS_PER_MM, POINTS_PER_MM);
    context.fillStyle = '#000';
    const symbol = bwipMatrix(bcid, text);
    const module = Math.min(1, (height - 10) / symbol.height);
    symbol.modules.forEach((dark, index) => {
      const [x, y] = [index % symbol.width, Math.floor(index / symbol.width)];
      if (dark) context.fillRect(5 + x * module, 5 + y * module, module, module);
    });
    document.endPage();
  }
  return document.close();
}
