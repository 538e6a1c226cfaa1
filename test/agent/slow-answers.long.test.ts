/** A printer that takes its time for every answer: behind a serial print server, a radio link, a processor that draws. */
import { expect, test } from 'vitest';
import type { Connection } from '../../drivers/connection.ts';
import type { Drivers } from '../../src/agent/drivers.ts';
import { expected, jobFor, testDrivers } from '../kit/agent/site.ts';
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

/** Printers that after every two labels do not tell their counter, and no more on that connection. */
function forgetful(): { drivers: Drivers; forgot: () => number } {
  const without = new Set<Connection>();
  let last = 0;
  const dialectFor: Drivers['dialectFor'] = (language) => {
    const dialect = testDrivers.dialectFor(language);
    if (dialect === null) return null;
    const status: typeof dialect.status = async (connection, ...asked) => {
      const said = await dialect.status(connection, ...asked);
      if (said.odometer !== null && said.odometer >= last + 2) {
        last = said.odometer;
        without.add(connection);
      }
      return without.has(connection) ? { ...said, odometer: null } : said;
    };
    return { ...dialect, status };
  };
  return { drivers: { ...testDrivers, dialectFor }, forgot: () => without.size };
}

test('a printer that now and then does not tell its counter is asked again, however often in a long job', async () => {
  const printer = await site.startPrinter({ speed: 40 });
  const { drivers, forgot } = forgetful();
  const config = { timings: { vanished: 1_000 }, window: { labels: 2, bytes: 65_536 } };
  const { printerId } = await site.startAgent(printer, { drivers, config });
  const job = jobFor(printerId, 30);
  expect(await site.print(job)).toMatchObject({ status: 'printed', labels: { printed: 30 } });
  expect(forgot()).toBeGreaterThan(8);
  expect(printer.labels).toEqual(expected(job));
});

test('a printer that does not tell its counter just before a job is asked again: a power cut leaves nothing uncertain', async () => {
  const printer = await site.startPrinter({ speed: 20 });
  let missed = 0;
  const dialectFor: Drivers['dialectFor'] = (language) => {
    const dialect = testDrivers.dialectFor(language);
    if (dialect === null) return null;
    const status: typeof dialect.status = async (connection, signal, habits) => {
      const said = await dialect.status(connection, signal, habits);
      // Whoever only looks whether it is there keeps no habits.
      return habits !== undefined && ++missed <= 2 ? { ...said, odometer: null } : said;
    };
    return { ...dialect, status };
  };
  const { printerId } = await site.startAgent(printer, { drivers: { ...testDrivers, dialectFor } });
  const job = await site.enqueue(jobFor(printerId, 20));
  await printer.printed(3);
  await printer.powerOff();
  await printer.powerOn();
  await site.printedBy(printer, job);
});
