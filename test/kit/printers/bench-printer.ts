/** What the tests of the virtual printer share: a printer in a directory, a client, readers of pictures. */
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createCanvas, loadImage } from '@napi-rs/canvas';
import { onTestFinished } from 'vitest';
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';
import {
  type PrintedLabel,
  VirtualZplPrinter,
  type VirtualZplPrinterOptions,
} from '../../../src/virtual/zpl/zpl-printer.ts';
import { Collected } from '../queue/samples.ts';

export interface Bench {
  printer: VirtualZplPrinter;
  outDir: string;
  labels: PrintedLabel[];
  /** Waits until `count` labels are out, counted from the start. */
  printed(count: number): Promise<PrintedLabel[]>;
}

export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'platen-virtual-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** 400 × 200 dots. */
export const ON_BENCH = { name: 'bench', dpi: 203, width: 50, height: 25 } as const;

/** A started printer, stopped when the test ends. */
export async function bench(options: Partial<VirtualZplPrinterOptions> = {}): Promise<Bench> {
  const outDir = options.outDir ?? (await temporaryDirectory());
  const printer = new VirtualZplPrinter({ ...ON_BENCH, ...options, outDir });
  return { printer, outDir, ...(await startOnBench(printer)) };
}

/** Starts a printer, which is stopped when the test ends. */
export async function startOnBench<L>(printer: {
  on(event: 'label', heard: (label: L) => void): unknown;
  start(): Promise<void>;
  stop(): Promise<void>;
}): Promise<{ labels: L[]; printed(count: number): Promise<L[]> }> {
  const out = new Collected<L>();
  printer.on('label', (label) => out.add(label));
  await printer.start();
  onTestFinished(() => printer.stop());
  return { labels: out.values, printed: async (count) => (await out.reach(count)).slice(0, count) };
}

export class Client {
  readonly socket: Socket;
  #text = '';

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.setEncoding('latin1');
    this.socket.on('data', (text: string) => {
      this.#text += text;
    });
    // Tests that cut the power reset the connection.
    this.socket.on('error', () => undefined);
    onTestFinished(() => {
      this.socket.destroy();
    });
  }

  send(data: string | Uint8Array): void {
    this.socket.write(data);
  }

  /** Waits until the connection is gone, in whichever way. */
  async closed(): Promise<void> {
    if (!this.socket.closed) await new Promise((resolve) => this.socket.once('close', resolve));
  }

  /** Sends a query and waits for an answer that ends as `end` says. */
  async ask(query: string, end: RegExp): Promise<string> {
    this.#text = '';
    this.send(query);
    while (!end.test(this.#text)) await once(this.socket, 'data');
    return this.#text;
  }

  /** `~HS`, as its three lists of fields. */
  async status(): Promise<string[][]> {
    const text = await this.ask('~HS', /(?:\x02[^\x03]*\x03\r\n){3}$/);
    return text.split('\r\n', 3).map((line) => line.replace(/[\x02\x03]/g, '').split(','));
  }

  async getvar(variable: string): Promise<string> {
    return await this.ask(`! U1 getvar "${variable}"\r\n`, /"$/);
  }
}

export interface Picture {
  width: number;
  height: number;
  /** The smallest box around what is black: left, top, right, bottom (inclusive); undefined when all is white. */
  ink: [number, number, number, number] | undefined;
  black(x: number, y: number): boolean;
}

export async function look(file: string): Promise<Picture> {
  const image = await loadImage(await readFile(file));
  const { width, height } = image;
  const context = createCanvas(width, height).getContext('2d');
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  const black = (x: number, y: number) => (data[(y * width + x) * 4] ?? 255) < 128;
  let ink: Picture['ink'];
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (!black(x, y)) continue;
      ink = ink ? [Math.min(ink[0], x), ink[1], Math.max(ink[2], x), y] : [x, y, x, y];
    }
  }
  return { width, height, ink, black };
}

const reader = join(
  dirname(createRequire(import.meta.url).resolve('zxing-wasm/reader')),
  '../../reader/zxing_reader.wasm',
);
let zxing: Promise<unknown> | undefined;

/** The text of every barcode on a picture, by a decoder that is not ours. */
export async function decode(file: string): Promise<string[]> {
  zxing ??= readFile(reader).then(async (wasm) => {
    const wasmBinary = wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength);
    await prepareZXingModule({ overrides: { wasmBinary }, fireImmediately: true });
  });
  await zxing;
  const found = await readBarcodes(new Uint8Array(await readFile(file)), {
    textMode: 'Escaped',
    tryHarder: true,
  });
  return found.map((code) => code.text);
}

/** The same of each of these labels. */
export async function codesOn(labels: readonly { file: string }[]): Promise<string[][]> {
  return await Promise.all(labels.map(({ file }) => decode(file)));
}

/** A label with a QR code of the text. */
export function qr(text: string, more = ''): string {
  return `^XA${more}^FO40,20^BQN,2,5^FDQA,${text}^FS^XZ`;
}
