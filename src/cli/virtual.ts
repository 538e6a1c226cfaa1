import { Command, Option } from 'commander';
import { createLogger } from '../log.ts';
import { VirtualIppPrinter } from '../virtual/ipp/ipp-printer.ts';
import { startControl } from '../virtual/machine/control.ts';
import { type PrintedLabel, VirtualZplPrinter } from '../virtual/zpl/zpl-printer.ts';
import { ending } from './ending.ts';
import { append, numberFrom, positiveNumber } from './option-values.ts';
import { printJson, printLine } from './output.ts';
import { keepFilesPrivate } from './private-files.ts';
import { stopped, untilToldToStop } from './stop-signal.ts';
import { askedFaults, virtualFaultCommand, virtualStatusCommand } from './virtual-fault.ts';

interface VirtualOptions {
  name: string;
  host: string;
  port: number;
  out: string;
  dpi: '203' | '300' | '600';
  width: number;
  height: number;
  speed: number;
  serial?: string;
  fault: string[];
  ipp?: true;
  json?: true;
}

const DPI = { '203': 203, '300': 300, '600': 600 } as const;

/** `platen virtual` */
export function virtualCommand(): Command {
  return new Command('virtual')
    .enablePositionalOptions()
    .description('run a printer that prints every label as a numbered PNG, beside what it was made from')
    .option('--name <name>', 'what it calls itself', 'virtual')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <n>', 'TCP port; 0 picks one', numberFrom(0, 65_535), 9100)
    .option('--out <dir>', 'where the labels go', 'labels')
    .addOption(new Option('--dpi <dpi>', 'resolution').choices(Object.keys(DPI)).default('203'))
    .option('--width <mm>', 'media width', positiveNumber, 101.6)
    .option('--height <mm>', 'media length', positiveNumber, 152.4)
    .option('--speed <ips>', 'inches per second', positiveNumber, 6)
    .option('--serial <serial>', 'serial number; one is made up at the first start, and kept')
    .option('--fault <fault>', 'a fault that it starts with, such as media-empty; repeatable', append, [])
    .option('--ipp', 'be an IPP printer instead, which takes PDF and ZPL and announces itself by DNS-SD')
    .option('--json', 'print JSON lines')
    .addCommand(virtualFaultCommand())
    .addCommand(virtualStatusCommand())
    .action(async (options: VirtualOptions) => {
      const { 'power-off': off = false, ...faults } = askedFaults(options.fault);
      keepFilesPrivate();
      const logger = createLogger();
      const common = {
        name: options.name,
        host: options.host,
        port: options.port,
        outDir: options.out,
        dpi: DPI[options.dpi],
        width: options.width,
        height: options.height,
        speed: options.speed,
        faults,
        ...(options.serial === undefined ? {} : { serial: options.serial }),
        logger,
      };
      const printer = options.ipp ? new VirtualIppPrinter(common) : new VirtualZplPrinter(common);
      printer.on('label', ({ number, file, faults }: PrintedLabel) => {
        if (options.json) process.stdout.write(`${JSON.stringify({ number, file, faults })}\n`);
        else printLine(faults.length === 0 ? file : `${file}  ${faults.join('; ')}`);
      });
      const stopSignal = untilToldToStop(logger);
      await using stack = new AsyncDisposableStack();
      await printer.start();
      stack.defer(() => ending('printer', () => printer.stop()));
      stack.use(await startControl(options.out, [printer], logger));
      if (off) await printer.powerOff();
      const { uri } = printer;
      options.json ? printJson({ uri }) : printLine(`${options.name} listens at ${uri}`);
      await stopped(stopSignal);
    });
}
