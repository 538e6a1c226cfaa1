/** Virtual printers that do not start, and say why. */
import { writeFile } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { VirtualIppPrinter } from '../../src/virtual/ipp/ipp-printer.ts';
import { VirtualZplPrinter } from '../../src/virtual/zpl/zpl-printer.ts';
import { temporaryDirectory } from '../kit/printers/bench-printer.ts';

test.each([
  ['IPP', VirtualIppPrinter, 'last-job', 'many'],
  ['ZPL', VirtualZplPrinter, 'printer.json', '{'],
] as const)(
  '%s: a directory that it cannot read, and a port that is taken',
  async (_, Printer, file, text) => {
    const options = { name: 'p', dpi: 203, width: 30, height: 20, announce: false } as const;
    const outDir = await temporaryDirectory();
    await writeFile(`${outDir}/${file}`, text);
    await expect(new Printer({ ...options, outDir }).start()).rejects.toThrow(file);
    const there = new Printer({ ...options, outDir: await temporaryDirectory() });
    await there.start();
    onTestFinished(() => there.stop());
    const taken = new Printer({ ...options, outDir: await temporaryDirectory(), port: there.port });
    await expect(taken.start()).rejects.toMatchObject({ code: 'EADDRINUSE' });
  },
);
