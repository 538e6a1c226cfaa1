/** A printer that takes its time for every answer: behind a serial print server, a radio link, a processor that draws. */
import { expect, test } from 'vitest';
import { expected, jobFor } from '../kit/agent/site.ts';
import { useSite } from '../kit/agent/use-site.ts';
import { BreakableRoad } from '../kit/wire/breakable-road.ts';

const site = useSite();

test('every label is printed, and counted, however old its counter is by the time that it is told', async () => {
  const printer = await site.startPrinter();
  const road = new BreakableRoad('127.0.0.1', printer.port);
  road.answersAfter = 700;
  await road.open();
  site.running({ stop: () => road.close() });
  const { printerId } = await site.startAgent(
    { uri: `socket://127.0.0.1:${road.port}` },
    { config: { transport: { connect: 1_000, write: 3_000, query: 5_000 } } },
  );
  const job = jobFor(printerId, 20);
  expect(await site.print(job)).toMatchObject({ status: 'printed', labels: { printed: 20 } });
  expect(printer.labels).toEqual(expected(job));
});
