/**
 * A `LabelSink` on a thread of its own, so that what is measured does not wait for the printer's end. It
 * reports what it saw only when asked, and only once all labels asked for are there.
 */
import { once } from 'node:events';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { z } from 'zod';
import { LabelSink } from './label-sink.ts';

/** `labels`: answer once the sink has had this many since it was made. */
const wanted = z.object({ labels: z.number() });
const seen = z.object({
  /** By the clock of `now`: the first byte of each label since the last answer, and the last byte of all. */
  begins: z.array(z.number()),
  end: z.number(),
});
type Seen = z.infer<typeof seen>;

export class SinkThread {
  readonly uri: string;
  readonly #worker: Worker;
  #labels = 0;

  private constructor(uri: string, worker: Worker) {
    this.uri = uri;
    this.#worker = worker;
  }

  /** @param address where it listens, on a free port */
  static async start(address: string): Promise<SinkThread> {
    const worker = new Worker(new URL(import.meta.url), { argv: [address] });
    const [uri] = await once(worker, 'message');
    return new SinkThread(z.string().parse(uri), worker);
  }

  /** Resolves when so many more labels are there. */
  async more(labels: number): Promise<Seen> {
    this.#labels += labels;
    const answer = once(this.#worker, 'message');
    this.#worker.postMessage({ labels: this.#labels });
    const [message] = await answer;
    return seen.parse(message);
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }
}

async function serve(address: string): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error('not a thread');
  const sink = new LabelSink('bench');
  let begins: number[] = [];
  let target: number | null = null;
  const tell = () => {
    if (target === null || sink.labels < target) return;
    port.postMessage({ begins, end: sink.lastAt });
    [begins, target] = [[], null];
  };
  sink.on('begin', (at) => begins.push(at));
  sink.on('end', tell);
  port.on('message', (message) => {
    target = wanted.parse(message).labels;
    tell();
  });
  port.postMessage(await sink.start(address));
}

if (!isMainThread) await serve(process.argv[2] ?? '');
