/** What tests of printers that take documents share: a virtual IPP printer that tells what it has printed. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { VirtualIppPrinter, type VirtualIppPrinterOptions } from '../../src/virtual/ipp-printer.ts';
import type { Directories } from './site.ts';

/** Reads the record's `n` of every label, in order, from the ZPL that it took; `?` where it took something else. */
export class TestIppPrinter extends VirtualIppPrinter {
  readonly labels: string[] = [];
  /** The pictures, in order. */
  readonly pictures: string[] = [];

  constructor(directories: Directories, options: Partial<VirtualIppPrinterOptions> = {}) {
    super({
      name: 'test',
      outDir: directories.make(),
      dpi: 203,
      width: 50,
      height: 25,
      announce: false,
      ...options,
    });
    this.on('label', ({ file, rawFile }) => {
      this.pictures.push(file);
      this.labels.push(/\^FDlabel ([^^]*)\^FS/.exec(readFileSync(rawFile, 'latin1'))?.[1] ?? '?');
    });
  }

  async printed(count: number): Promise<void> {
    while (this.labels.length < count) await once(this, 'label');
  }
}
