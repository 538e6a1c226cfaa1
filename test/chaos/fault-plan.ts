/** The faults that happen while labels are printed, and end after a while. Each is drawn from the seed. */
import { setTimeout as pause } from 'node:timers/promises';
import { LOOKED_AT_MS } from '../../src/agent/job/row.ts';
import { faultsElsewhere } from './faults-elsewhere.ts';
import type { PaperPrinter } from './paper-printer.ts';
import type { PlatenProcess } from './platen-process.ts';
import type { Random } from './random.ts';
import type { ChaosSite, SitePrinter } from './site.ts';

export interface Fault {
  name: string;
  /** How likely it is, relative to the other faults. */
  weight: number;
  /** Nothing else goes wrong meanwhile. */
  alone?: true;
  /** Begins the fault; the function that it resolves with ends the fault. */
  begin(): Promise<() => Promise<void>>;
}

/** How long to wait for a loss at a printer, ms; and, after the loss, for an agent to read the counter. */
const LOSS_MS = 4_000;
const NOTICE_MS = 60_000;
/** How long to wait for a job to follow another one at a printer, ms. */
const FOLLOWS_MS = 15_000;

/** Sleeps of a process that its lease outlives, and that it does not: 15 s, ms. */
const SHORT_SLEEP = [500, 14_000] as const;
const LONG_SLEEP = [16_000, 25_000] as const;

const none = async (): Promise<void> => {};

/** All faults of the site. */
export function faultsOf(site: ChaosSite, random: Random): Fault[] {
  return [
    ...[...site.agents, ...site.services].flatMap((running) => processFaults(running, random)),
    ...serverFaults(site, random),
    ...site.elsewhere.flatMap((agent) => faultsElsewhere(agent, site.services, random)),
    ...site.printers.flatMap((one) => printerFaults(one, random)),
    ...site.printers
      .filter(({ printer }) => printer.options.odometer && !printer.options.mute)
      .flatMap((one) => [fedAfterLoss(one, site.agents), killedBeforeBytes(one, site.agents, random)]),
  ];
}

/**
 * The printer and whoever drives it lose their power, with labels of two jobs under way for the most part. A label is fed when the
 * labels of the first of these go out again: it is none of the second's.
 */
function fedAfterLoss({ name, printer }: SitePrinter, agents: readonly PlatenProcess[]): Fault {
  return {
    name: `${name}: power off with its agents, and a label fed afterwards`,
    weight: 5,
    alone: true,
    begin: async () => {
      await Promise.all([printer.powerOff(), ...agents.map((agent) => agent.kill())]);
      await printer.powerOn();
      for (const agent of agents) agent.launch();
      await fedInView(printer, NOTICE_MS);
      return none;
    },
  };
}

/**
 * Whoever drives the printer, or one of those who could, dies when a job is on record as about to follow another one at the printer,
 * and before its first byte.
 */
function killedBeforeBytes(
  { name, printer }: SitePrinter,
  agents: readonly PlatenProcess[],
  random: Random,
): Fault {
  return {
    name: `${name}: an agent killed between note and bytes of the second job`,
    weight: 5,
    alone: true,
    begin: async () => {
      const end = await printer.keepOutNextJob(FOLLOWS_MS);
      if (end === undefined) return none;
      const killed = random.chance(0.5) ? agents : [random.pick(agents)];
      await Promise.all(killed.map((agent) => agent.kill()));
      end();
      for (const agent of killed) agent.launch();
      return none;
    },
  };
}

/** What happens to a process. */
export function processFaults(running: PlatenProcess, random: Random): Fault[] {
  const again = async () => running.launch();
  return [
    {
      name: `SIGKILL of ${running.name}`,
      weight: 3,
      begin: async () => {
        await running.kill();
        await pause(random.between(0, 3_000));
        return again;
      },
    },
    {
      name: `SIGSTOP of ${running.name}`,
      weight: 2,
      begin: async () => {
        running.sleep(true);
        const [least, most] = random.pick([SHORT_SLEEP, SHORT_SLEEP, LONG_SLEEP]);
        await pause(random.between(least, most));
        return async () => running.sleep(false);
      },
    },
    {
      name: `SIGTERM of ${running.name}`,
      weight: 1,
      begin: async () => {
        await running.stop();
        return again;
      },
    },
    ...(running.isOld
      ? [
          {
            name: `update of ${running.name}`,
            weight: 3,
            begin: async () => {
              running.update();
              await running.stop();
              return again;
            },
          },
        ]
      : []),
  ];
}

function serverFaults(site: ChaosSite, random: Random): Fault[] {
  const faults: Fault[] = [];
  for (const database of site.databases) {
    const how = random.pick(['SIGKILL', 'SIGINT'] as const);
    faults.push(
      {
        name: `${how} of ${database.name}`,
        weight: 2,
        begin: async () => {
          await database.end(how);
          await pause(random.between(0, 6_000));
          return () => database.start();
        },
      },
      {
        name: `SIGSTOP of ${database.name}`,
        weight: 1,
        begin: async () => {
          database.sleep(true);
          await pause(random.between(300, 6_000));
          return async () => database.sleep(false);
        },
      },
    );
  }
  if (site.setup === 'embedded') {
    faults.push({
      name: 'SIGKILL of the embedded PostgreSQL',
      weight: 1,
      begin: async () => {
        const pid = site.embeddedPostgres();
        try {
          if (pid !== undefined) process.kill(pid, 'SIGKILL');
        } catch {
          // It has ended already and left only its process ID file.
        }
        return none;
      },
    });
  }
  return faults;
}

function printerFaults({ name, printer }: SitePrinter, random: Random): Fault[] {
  const media: Fault = {
    name: `${name}: media out`,
    weight: 1,
    begin: async () => {
      printer.media(false);
      await pause(random.between(300, 5_000));
      return async () => printer.media(true);
    },
  };
  const feed: Fault = {
    name: `${name}: a label fed by hand`,
    weight: 2,
    alone: true,
    begin: async () => {
      await fedInView(printer);
      return none;
    },
  };
  // Where a printer only says what is pending, labels that a person deletes look like labels that came out.
  const tells = printer.options.odometer || printer.options.mute;
  const losses: Fault[] = [
    {
      name: `${name}: CANCEL at the panel`,
      weight: 1,
      alone: true,
      begin: async () => {
        await noticed(printer, () => printer.cancel());
        return none;
      },
    },
    {
      name: `${name}: a format dropped`,
      weight: 1,
      alone: true,
      begin: async () => {
        await noticed(printer, () => printer.dropNext(1));
        printer.dropNext(0);
        return none;
      },
    },
  ];
  return [
    media,
    feed,
    {
      name: `${name}: somebody else leaves half a label`,
      weight: 2,
      begin: async () => {
        // Between its last answer and its next label nobody can keep another's bytes out of a printer; one that was told that nothing
        // is to come out has it forget the half.
        if (printer.options.mute || printer.toldRest) await printer.half();
        return none;
      },
    },
    ...(tells ? losses : []),
    {
      name: `${name}: power off`,
      weight: 1,
      begin: async () => {
        await printer.powerOff();
        await pause(random.between(200, 5_000));
        return () => printer.powerOn();
      },
    },
    {
      name: `${name}: silence`,
      weight: 1,
      begin: async () => {
        printer.stall(true);
        await pause(random.between(300, 8_000));
        return async () => printer.stall(false);
      },
    },
    {
      name: `${name}: a cut inside a label`,
      weight: 2,
      begin: async () => {
        printer.cutAfter(random.between(1, 400));
        return none;
      },
    },
  ];
}

/**
 * Feeds a label while an agent that sends labels reads the counter, and waits until the agent has read it
 * again. An agent that is killed between recording a label and sending it loses that label, and so does one
 * whose connection breaks inside the label. If a label is fed before the counter is read again, nobody can tell
 * the fed label from the lost one: so a cut that is still to come is called off.
 */
async function fedInView(printer: PaperPrinter, ms = LOSS_MS): Promise<void> {
  printer.cutAfter(undefined);
  if (printer.options.odometer && !(await readAgain(printer, 1, ms))) return;
  printer.feed();
  if (!printer.options.odometer) return;
  // A question under way may have been sent before the label was fed; and what was fed is told after a while. While labels come
  // out, two answers show it for certain, and for each the counter may be read twice.
  await pause(LOOKED_AT_MS);
  await readAgain(printer, 6, LOSS_MS);
}

/** Waits for `times` counter reads by a sender of labels. @returns false: the job ended, or nothing prints */
async function readAgain(printer: PaperPrinter, times: number, ms: number): Promise<boolean> {
  const before = printer.askedBySender;
  const over = AbortSignal.timeout(ms);
  while (!over.aborted && printer.askedBySender < before + times) await pause(20);
  return !over.aborted;
}

/**
 * Makes the printer lose labels, and waits until it has lost them and an agent has noticed. While labels come
 * out between two answers, the next labels hide that some are missing. When the printer is at rest and took
 * the last bytes long enough ago, one answer shows that labels may be missing and the next that they are; an
 * agent that asks again has read that answer. If the connection breaks before that, nobody who does not see
 * the paper can tell a loss in the middle from a loss at the end: so a cut that is still to come is called
 * off.
 */
async function noticed(printer: PaperPrinter, lose: () => void): Promise<void> {
  printer.cutAfter(undefined);
  // What was fed among labels shows for certain once the printer rests: a label that is lost before takes its place in the count.
  if (printer.options.odometer && printer.fed) {
    if (!(await askedAtRest(printer, AbortSignal.timeout(LOSS_MS)))) return;
    printer.fed = false;
  }
  const lostBefore = printer.lost;
  lose();
  const over = AbortSignal.timeout(LOSS_MS);
  while (!over.aborted && printer.lost === lostBefore) await pause(20);
  if (over.aborted) return;
  // A printer without a counter is never asked for it.
  await askedAtRest(printer, printer.options.odometer ? AbortSignal.timeout(NOTICE_MS) : over);
}

/** Waits until it is at rest, took the last bytes long enough ago, and was asked four times since. @returns false: it was not */
async function askedAtRest(printer: PaperPrinter, over: AbortSignal): Promise<boolean> {
  let restSince: number | undefined;
  let asked: number | undefined;
  while (!over.aborted) {
    const now = performance.now();
    restSince = printer.atRest ? (restSince ?? now) : undefined;
    const lookedAt = restSince !== undefined && now > restSince + LOOKED_AT_MS;
    asked = lookedAt ? (asked ?? printer.counterAsked) : undefined;
    // A question under way may have been sent before.
    if (asked !== undefined && printer.counterAsked >= asked + 4) return true;
    await pause(20);
  }
  return false;
}
