/**
 * A road that falls silent with labels on it, while a new connection gets through: what the first one still held must
 * not come out after the agent has sent it again. The road is as a kernel: what a connection holds when it is closed is
 * delivered later, what it holds when it is reset is not.
 */

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { expected, jobFor } from '../kit/agent/site.ts';
import { useSite } from '../kit/agent/use-site.ts';
import { listening } from '../kit/wire/listening.ts';

const site = useSite();

interface Road {
  uri: string;
  /** Resolves when the printer has got what was held, or nothing was. */
  release(): Promise<void>;
}

/** The first connection falls silent before the label with these words. */
async function roadSilentAt(words: string, port: number): Promise<Road> {
  let silent: { printer: Socket; held: Buffer[] } | undefined;
  const road = createServer((agent) => {
    const printer = connect(port, '127.0.0.1');
    const back = (bytes: Buffer) => agent.write(bytes);
    printer.on('data', back).on('error', () => undefined);
    agent.on('error', () => {
      if (silent?.printer === printer) silent.held = [];
    });
    agent.on('data', (bytes: Buffer) => {
      if (silent?.printer === printer) {
        silent.held.push(bytes);
        return;
      }
      const at = bytes.indexOf(words);
      if (silent !== undefined || at < 0) {
        printer.write(bytes);
        return;
      }
      const begin = bytes.lastIndexOf('^XA', at);
      printer.write(bytes.subarray(0, begin));
      printer.off('data', back);
      silent = { printer, held: [bytes.subarray(begin)] };
    });
    agent.on('close', () => {
      if (silent?.printer !== printer) printer.destroy();
    });
  });
  const near = await listening(road);
  onTestFinished(() => {
    silent?.printer.destroy();
    road.close();
  });
  return {
    uri: `socket://127.0.0.1:${near}`,
    release: async () => {
      if (silent === undefined) throw new Error('it was never silent');
      const gone = once(silent.printer, 'close');
      silent.printer.resume().end(Buffer.concat(silent.held));
      await gone;
    },
  };
}

test('what the old connection held does not come out after it was sent again', async () => {
  const printer = await site.startPrinter();
  const road = await roadSilentAt('label 3', printer.port);
  const { printerId } = await site.startAgent(road);
  const [job, last] = [jobFor(printerId, 10), jobFor(printerId, ['last'])];
  expect(await site.print(job)).toMatchObject({ status: 'printed' });
  await road.release();
  expect(await site.print(last)).toMatchObject({ status: 'printed' });
  expect(printer.labels).toEqual([...expected(job), 'last']);
});
