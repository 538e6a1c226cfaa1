/** How many requests a second two services accept, in turns, at a printer that prints in no time. */
import { setTimeout as pause } from 'node:timers/promises';
import { Integrator, PlatenUp } from '../test/kit/service/platen.ts';
import { perSecond } from './figures.ts';
import { inParallel } from './in-parallel.ts';
import { record, TEMPLATE } from './label.ts';
import { LabelSink } from './label-sink.ts';
import { Poster } from './poster.ts';

const WIDTH = 16;
/** A turn ends after this many requests, or after this time, ms. */
const MOST = 1_000;
const TURN_MS = 3_000;
const FOUND_MS = 20_000;

/**
 * @param dataDirs one for each service
 * @returns requests a second for each service: the median of its turns
 */
export async function postRates(dataDirs: readonly string[], turns: number): Promise<number[]> {
  await using stack = new AsyncDisposableStack();
  const services: {
    post(number: number): Promise<void>;
    rest(signal: AbortSignal): Promise<void>;
    rates: number[];
  }[] = [];
  for (const dataDir of dataDirs) {
    const sink = new LabelSink('bench');
    stack.defer(() => sink.stop());
    const up = await PlatenUp.start({
      dataDir,
      args: ['--virtual', '0', '--printer', await sink.start()],
      env: { PLATEN_MAX_REQUESTS_PER_SECOND: '1000000' },
    });
    stack.defer(async () => void (await up.stop()));
    const { id: idT } = await up.admin.importTemplate('default', TEMPLATE);
    const poster = new Poster(await Integrator.make(up));
    stack.defer(() => poster.close());
    const printerId = await onlyPrinter(up);
    services.push({
      rates: [],
      post: (number) => poster.post({ idT, printerId, data: [record(number)] }),
      rest: async (signal) => {
        const open = async (status: string) => (await up.admin.jobs({ status, limit: 1 })).length > 0;
        while ((await open('queued')) || (await open('printing'))) await pause(50, undefined, { signal });
      },
    });
  }
  // The first turn of each service does not count: the program has just started.
  for (let turn = 0; turn <= turns; turn += 1) {
    for (const { post, rest, rates } of turn % 2 === 0 ? services : services.toReversed()) {
      const signal = AbortSignal.timeout(10 * TURN_MS);
      const { times, ms } = await inParallel({ width: WIDTH, ms: TURN_MS, most: MOST, signal }, post);
      if (turn > 0) rates.push(perSecond(times.length, ms));
      await rest(signal);
    }
  }
  return services.map(({ rates }) => rates.toSorted((a, b) => a - b)[rates.length >> 1] ?? Number.NaN);
}

async function onlyPrinter(up: PlatenUp): Promise<string> {
  const signal = AbortSignal.timeout(FOUND_MS);
  for (;;) {
    const found = (await up.admin.printers()).find(({ agents }) => agents.some(({ online }) => online));
    if (found !== undefined) return found.id;
    await pause(50, undefined, { signal });
  }
}
