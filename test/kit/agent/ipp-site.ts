/** What tests of printers that take documents share: a virtual IPP printer that tells what it has printed. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { LanguageId } from '../../../src/contract/format.ts';
import type { QueuedJob } from '../../../src/contract/queued-job.ts';
import { template } from '../../../src/contract/template.ts';
import { VirtualIppPrinter, type VirtualIppPrinterOptions } from '../../../src/virtual/ipp/ipp-printer.ts';
import { type Directories, jobFor, smallPrinter } from './site.ts';

/** Reads the record's `n` of every label, in order, from the ZPL that it took; `?` where it took something else. */
export class TestIppPrinter extends VirtualIppPrinter {
  readonly labels: string[] = [];
  /** The pictures, in order. */
  readonly pictures: string[] = [];

  constructor(directories: Directories, options: Partial<VirtualIppPrinterOptions> = {}) {
    super({ ...smallPrinter(directories), announce: false, ...options });
    this.on('label', ({ file, rawFile }) => {
      this.pictures.push(file);
      this.labels.push(/\^FDlabel ([^^]*)\^FS/.exec(readFileSync(rawFile, 'latin1'))?.[1] ?? '?');
    });
  }

  async printed(count: number): Promise<void> {
    while (this.labels.length < count) await once(this, 'label');
  }
}

/** A job of designed labels, each with its record's `n` as a QR code. */
export function designedJob(
  printerId: string,
  language: LanguageId,
  records: number | string[],
  copies = 1,
): QueuedJob {
  return {
    ...jobFor(printerId, records, copies),
    template: template.parse({
      name: 'Code',
      width: 50,
      height: 25,
      fields: [{ name: 'n' }],
      elements: [{ type: 'barcode', symbology: 'qr', value: 'label {{n}}', x: 5, y: 3, module: 0.5 }],
    }),
    format: { id: `${language}-203-50x25`, name: '50 × 25', language, dpi: 203, width: 50, height: 25 },
  };
}
