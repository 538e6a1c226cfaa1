/** A virtual printer in a process of its own, to be killed. Says its port, and then each label's number. */
import { VirtualZplPrinter } from '../../src/virtual/zpl/zpl-printer.ts';

const [outDir = ''] = process.argv.slice(2);
const printer = new VirtualZplPrinter({ name: 'mortal', outDir, dpi: 203, width: 50, height: 25 });
printer.on('label', (label) => process.stdout.write(`${label.number}\n`));
await printer.start();
process.stdout.write(`port ${printer.port}\n`);
