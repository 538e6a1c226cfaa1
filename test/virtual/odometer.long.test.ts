import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bench, Client, decode, temporaryDirectory } from '../kit/printers/bench-printer.ts';
import { processFile } from '../kit/programs/built.ts';

interface Mortal {
  child: ChildProcess;
  port: number;
  /** Waits until it says that the label with this number is out. */
  printed(number: number): Promise<void>;
}

async function startProcess(outDir: string): Promise<Mortal> {
  const child = spawn(process.execPath, [processFile('test/virtual/printer-process.ts'), outDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const lines = createInterface({ input: child.stdout });
  const waiting = new Map<string, () => void>();
  const port = await new Promise<number>((resolve) => {
    lines.on('line', (line) => {
      if (line.startsWith('port ')) resolve(Number(line.slice(5)));
      waiting.get(line)?.();
    });
  });
  return {
    child,
    port,
    printed: (number) => new Promise((resolve) => waiting.set(String(number), resolve)),
  };
}

async function pictures(outDir: string): Promise<string[]> {
  return (await readdir(outDir)).filter((name) => name.endsWith('.png')).sort();
}

function qr(text: string): string {
  return `^XA^FO40,20^BQN,2,5^FDQA,${text}^FS^PQ2^XZ`;
}

describe('the odometer', () => {
  it('equals the pictures after every SIGKILL: no gap, no half picture, none twice', async () => {
    const outDir = await temporaryDirectory();
    let count = 0;
    for (const [round, after] of [3, 1, 6, 2].entries()) {
      const { child, port, printed } = await startProcess(outDir);
      const client = new Client(port);
      expect(await client.getvar('odometer.total_label_count')).toBe(`"${count}"`);
      expect((await readdir(outDir)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
      const reached = printed(count + after);
      for (let index = 0; index < 20; index++) client.send(qr(`${round}-${index}`));
      await reached;
      child.kill('SIGKILL');
      await once(child, 'exit');

      const files = await pictures(outDir);
      expect(files).toEqual(files.map((_, index) => `${String(index + 1).padStart(6, '0')}.png`));
      expect(files.length).toBeGreaterThanOrEqual(count + after);
      for (const [index, file] of files.slice(count).entries()) {
        expect(await decode(join(outDir, file))).toEqual([`${round}-${index >> 1}`]);
      }
      count = files.length;
    }
  });

  it('goes on where it was when pictures are taken away while it is off', async () => {
    const outDir = await temporaryDirectory();
    const first = await bench({ outDir });
    new Client(first.printer.port).send(qr('a'));
    await first.printed(2);
    await first.printer.stop();
    for (const file of await pictures(outDir)) await rm(join(outDir, file));
    const second = await bench({ outDir });
    new Client(second.printer.port).send(qr('b'));
    expect((await second.printed(2)).map((label) => label.number)).toEqual([3, 4]);
  });
});
