/** Checks each printer: whether it was found, is reached and answers, its state, and when it last printed. */
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { configuredPrinters } from '../../agent/discovery/providers/configured.ts';
import { standardDrivers } from '../../agent/drivers.ts';
import { Printers } from '../../agent/printer/printers.ts';
import type { AgentView } from '../../contract/agent-view.ts';
import type { JobView } from '../../contract/job.ts';
import type { PrinterView } from '../../contract/printer-view.ts';
import { createLogger } from '../../log.ts';
import type { AdminClient } from '../admin-client.ts';
import { localTime } from '../times.ts';
import { type Finding, failed, ok, warning } from './finding.ts';
import type { Subject } from './subject.ts';

/** What the service, an agent or this command knows of a printer. */
interface Seen {
  name: string;
  uri: string;
  state: string;
  reasons: readonly string[];
  /** `served by dock 3`, `printed last at …` */
  more: readonly string[];
}

/** How long this command itself asks printers that no agent serves, ms. */
const ASK_MS = 4_000;

/** As the service reports them, or else this machine's agent; asked directly where neither runs. */
export async function printers(subject: Subject): Promise<Finding[]> {
  const { client, status, agent } = subject;
  if (client !== null) {
    try {
      return await byService(client);
    } catch {
      // The check of the service has reported it.
    }
  }
  if (status !== null) {
    const { printers: seen, unreached = [] } = status.report;
    return [
      ...none(seen.length + unreached.length),
      ...seen.map((printer) => findingOf({ ...printer, more: [] })),
      ...unreached.map(({ uri, name, why }) => neverReached(name ?? uri, uri, why)),
    ];
  }
  return agent === null || agent.printers.length === 0 ? [] : await asked(subject);
}

async function byService(client: AdminClient): Promise<Finding[]> {
  const [seen, agents] = await Promise.all([client.printers(), client.agents()]);
  const missed = agents.filter(({ online }) => online).flatMap(({ unreached }) => unreached);
  const findings = await Promise.all(seen.map((printer) => ofService(client, printer)));
  return [
    ...(agents.some(({ online }) => online) ? none(seen.length + missed.length) : []),
    ...findings,
    ...missed.map(({ uri, name, why }: AgentView['unreached'][number]) =>
      neverReached(name ?? uri, uri, why),
    ),
  ];
}

async function ofService(client: AdminClient, printer: PrinterView): Promise<Finding> {
  const { id, name, uri, status: state, reasons, agents } = printer;
  const online = agents.filter((agent) => agent.online);
  const [last] = await client.jobs({ printer: id, status: 'printed', limit: 1 }).catch(() => []);
  const served = online.find(({ serves }) => serves === true) ?? online[0];
  if (served === undefined) {
    const names = agents.map((agent) => agent.name).join(', ');
    return failed(`printer ${name}`, `${uri}: no agent that has it runs (${names})`, 'Start its agent.');
  }
  return findingOf({
    name,
    uri,
    state,
    reasons,
    more: [
      `served by ${served.name}`,
      last === undefined ? 'has printed no job that is kept' : `printed last at ${localTime(last.updatedAt)}`,
    ],
  });
}

function none(count: number): Finding[] {
  if (count > 0) return [];
  const advice =
    'Name one in "printers" of the configuration, or switch "discovery" on; "platen discover" says what can be seen from here.';
  return [warning('printers', 'none was found, and none is configured', advice)];
}

function neverReached(name: string, uri: string, why: string): Finding {
  const advice =
    'Look at its address, its power and its cable; "platen discover --printer ADDRESS" asks it again.';
  return failed(`printer ${name}`, `${uri} was never reached: ${why}`, advice);
}

/** What a person does about a reason; for any other reason, the list of jobs shows what waits. */
const REMEDIES: Readonly<Record<string, string>> = {
  offline: 'Look at its power and its network cable; it goes on by itself.',
  'media-empty': 'Load labels; it goes on by itself.',
  'media-jam': 'Clear the jam and close it; it goes on by itself.',
  'marker-supply-empty': 'Put in a new ribbon; it goes on by itself.',
  'cover-open': 'Close it; it goes on by itself.',
  paused: 'Press its pause button; it goes on by itself.',
  'label-waiting': 'Take the label off.',
  'output-area-full': 'Take the labels out.',
  'certificate-unknown': 'Do not force it: docs/security.md says how it is looked at.',
  'agent-disk': "Make room on the disk of its agent's computer; it goes on by itself.",
  'found-elsewhere': 'Look at which address it is now, and at that of the configuration: docs/printers.md.',
};

function findingOf({ name, uri, state, reasons, more }: Seen): Finding {
  const check = `printer ${name}`;
  const detail = [uri, [state, ...reasons.filter((reason) => reason !== state)].join(', '), ...more].join(
    '; ',
  );
  const remedies = reasons.flatMap((reason) => REMEDIES[reason] ?? []);
  const prints = !reasons.includes('offline') && !reasons.includes('agent-disk');
  if (state === 'offline' || state === 'stopped' || !prints) {
    return failed(check, detail, remedies.join(' ') || 'Look what it shows, and mend that.');
  }
  if (remedies.length > 0) return warning(check, detail, remedies.join(' '));
  if (state === 'unknown') {
    const advice =
      'It is reached, and says nothing of itself: a job to it may have to be looked at (docs/printers.md).';
    return warning(check, detail, advice);
  }
  return ok(check, detail);
}

/** Asks the printers directly: no agent runs that this could disturb. */
async function asked({ agent }: Subject): Promise<Finding[]> {
  if (agent === null) return [];
  const looking: Printers = new Printers({
    config: agent,
    drivers: standardDrivers,
    host: hostname(),
    busy: () => false,
    providers: [configuredPrinters(agent.printers)],
    known: { all: () => [], put: () => {}, forget: () => {} },
    onEvent: () => {},
    logger: createLogger({ level: 'silent' }),
  });
  looking.start();
  try {
    const deadline = performance.now() + ASK_MS;
    const done = () => looking.all.length + looking.unreached.length >= agent.printers.length;
    while (!done() && performance.now() < deadline) await pause(50);
    const seen = looking.all.map((printer) =>
      findingOf({ ...printer.describe(), more: ['asked by this command'] }),
    );
    const missed = agent.printers.filter(({ uri }) => looking.unreachedAt(uri) !== null);
    return [
      ...seen,
      ...missed.map(({ uri, name }) =>
        neverReached(name ?? uri, uri, looking.unreachedAt(uri) ?? 'no answer yet'),
      ),
    ];
  } finally {
    await looking.stop();
    await Promise.all(looking.all.map(({ device }) => device.drop()));
  }
}

/** Jobs whose agent's disk is full, or broken: its own doctor, on its machine, would say so of the disk itself. */
export async function jobsUnderWay({ client }: Subject): Promise<Finding[]> {
  const jobs = (await client?.jobs({ status: 'printing', limit: 1_000 }).catch(() => null)) ?? [];
  return jobs
    .filter(({ reasons }) => reasons.includes('agent-disk'))
    .slice(0, 5)
    .map(lacksDisk);
}

function lacksDisk({ id, printer }: JobView): Finding {
  const detail = `the disk of the agent that has job ${id} takes nothing`;
  return failed(
    `printer ${printer.name}`,
    detail,
    'Make room on the disk of that computer; the job goes on by itself.',
  );
}

export async function heldJobs({ client }: Subject): Promise<Finding[]> {
  const held = (await client?.jobs({ status: 'held', limit: 100 }).catch(() => null)) ?? null;
  if (held === null) return [];
  const check = 'jobs that need a person';
  if (held.length === 0) return [ok(check, 'none')];
  const ids = held.slice(0, 5).map(({ id }) => id);
  const detail = `${held.length === 100 ? '100 or more' : held.length} held: ${ids.join(', ')}${held.length > 5 ? ', …' : ''}`;
  return [
    warning(check, detail, 'Look which labels are there, then "platen job release": docs/operator.md.'),
  ];
}
