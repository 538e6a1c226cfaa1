/** `platen up` that looks for printers itself, and `platen discover` that shows live what comes and goes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { VirtualIppPrinter } from '../../src/virtual/ipp/ipp-printer.ts';
import { barcodesIn } from '../kit/judges/pictures.ts';
import { PLATEN } from '../kit/programs/built.ts';
import { PlatenUp, platen, temporaryDirectory } from '../kit/service/platen.ts';

const LOOPBACK = '127.0.0.1';
const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const undo of cleanUp.splice(0).reverse()) await undo();
});

async function directory(): Promise<string> {
  const made = await temporaryDirectory();
  cleanUp.push(() => made[Symbol.asyncDispose]());
  return made.path;
}

async function announced(name: string): Promise<VirtualIppPrinter> {
  const printer = new VirtualIppPrinter({
    name,
    outDir: await directory(),
    dpi: 203,
    width: 50,
    height: 25,
    announce: [LOOPBACK],
  });
  await printer.start();
  cleanUp.push(() => printer.stop());
  return printer;
}

test('up drives what it finds, beside its virtual IPP printers', async () => {
  const path = await directory();
  const agent = join(path, 'agent.json');
  await writeFile(agent, JSON.stringify({ discovery: { interfaces: [LOOPBACK] } }));
  const found = await announced('Discover, dispensary');
  const args = ['--virtual', '0', '--virtual-ipp', '1', '--discover', '--agent-config', agent];
  const up = await PlatenUp.start({ dataDir: join(path, 'data'), args });
  cleanUp.push(() => up.stop());
  await up.printerOnline('virtual-ipp-1');
  const template = join(path, 'shelf.json');
  const barcode = { type: 'barcode', symbology: 'qr', x: 2, y: 2, value: '{{sku}}', module: 0.5 };
  await writeFile(
    template,
    JSON.stringify({ name: 'Shelf', width: 50, height: 25, fields: [{ name: 'sku' }], elements: [barcode] }),
  );
  const records = join(path, 'records.json');
  await writeFile(records, '[{"sku":"A-1"}]');
  const imported = await platen(['template', 'import', template, '--data', up.dataDir]);
  expect(imported.code).toBe(0);
  const there = z.array(z.object({ id: z.string(), name: z.string() }));
  // Other tests announce their printers on this machine too.
  const isOurs = ({ name }: { name: string }) => /^(Discover|virtual)/.test(name);
  const listed = async () => there.parse(await up.admin.printers()).filter(isOurs);
  const names = async () => (await listed()).map(({ name }) => name.replace(/ \(.*/, '')).sort();
  await expect.poll(names, { timeout: 20_000 }).toEqual(['Discover, dispensary', 'virtual-ipp-1']);
  const pictures: string[] = [];
  found.on('label', ({ file }) => pictures.push(file));
  for (const { id } of await listed()) {
    const { code, stderr } = await platen([
      ...['print', 'Shelf', '--records', records, '--printer-id', id, '--data', up.dataDir, '--wait'],
    ]);
    expect(code, stderr).toBe(0);
  }
  for (const picture of [...pictures, ...(await up.pictures('virtual-ipp-1'))]) {
    expect((await barcodesIn(picture)).map(({ text }) => text)).toEqual(['A-1']);
  }
  expect(pictures).toHaveLength(1);
});

const event = z.object({
  event: z.string(),
  printer: z.object({ id: z.string(), name: z.string(), ways: z.array(z.string()) }),
});

test('discover shows what comes and goes while it looks', async () => {
  const args = ['discover', '--follow', '--json', '--interface', LOOPBACK];
  const child = spawn(PLATEN, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  cleanUp.push(async () => {
    if (child.exitCode === null && child.kill()) await once(child, 'exit');
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (name: string) => {
    for (;;) {
      const line = event.parse(JSON.parse(String((await lines.next()).value)));
      if (line.event === name && line.printer.name.startsWith('Discover, pharmacy')) return line.printer;
    }
  };
  const first = await announced('Discover, pharmacy');
  const there = await next('back');
  expect(there.ways).toEqual([first.uri]);
  await first.stop();
  expect((await next('offline')).id).toBe(there.id);
  child.kill('SIGINT');
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
});
