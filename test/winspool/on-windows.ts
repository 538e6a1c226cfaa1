/** Runs on Windows (`wine.ts`): what the provider and the transport find and do there, a line of JSON each. */
import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { DocumentPort, PrinterJobState } from '../../drivers/transports/document/document.ts';
import { standardTransports } from '../../drivers/transports/index.ts';
import { chooseDriver } from '../../src/agent/discovery/fingerprints.ts';
import { winspoolDiscovery } from '../../src/agent/discovery/providers/winspool.ts';
import { DOCUMENTS } from './documents.ts';

const signal = AbortSignal.timeout(60_000);
const media = { width: 50, height: 25 };

function say(what: string, value: unknown): void {
  process.stdout.write(`${JSON.stringify([what, value])}\n`);
}

function open(uri: string): DocumentPort {
  const port = standardTransports.documents(uri);
  if (port === null) throw new Error('no documents');
  return port;
}

async function failure(promise: Promise<unknown>): Promise<unknown> {
  try {
    return { resolved: await promise };
  } catch (error) {
    return error instanceof Error ? { name: error.name, message: error.message } : error;
  }
}

async function followed(port: DocumentPort, job: string): Promise<PrinterJobState | null> {
  for (;;) {
    const state = await port.jobState(job, signal);
    if (state === null || ['completed', 'canceled', 'aborted'].includes(state.phase)) return state;
    await wait(10);
  }
}

const sightings = await winspoolDiscovery().find(signal);
say('platform', process.platform);
say('findings', sightings);
const models = [{ match: 'labels*', languages: ['zpl' as const] }];
const drivers = sightings.flatMap((sighting) => chooseDriver(sighting, standardTransports, models) ?? []);
say('candidates', drivers);
say('unknown', await failure(open('winspool:no%20such%20printer').describe(signal)));

const [driver] = drivers;
if (driver === undefined) throw new Error('no printer');
const port = open(driver.uri);
say('description', await port.describe(signal));
say('status', await port.status(signal));

for (const [index, document] of DOCUMENTS.entries()) {
  const name = `job ${index} é`;
  const job = await port.create({ name, language: 'zpl', media }, signal);
  say('created', { known: job.endsWith(name), state: await port.jobState(job, signal) });
  await port.send(job, 'RAW', document, signal);
  const hash = createHash('sha256').update(document).digest('hex');
  say('sent', { hash, state: await followed(port, job) });
}

const job = await port.create({ name: 'given up', language: 'zpl', media }, signal);
await port.cancel(job, signal);
say('given up', await port.jobState(job, signal));
say('sent after that', await failure(port.send(job, 'RAW', DOCUMENTS[0] ?? Buffer.alloc(0), signal)));
say('of another process', await port.jobState('4711 other', signal));
say(
  'aborted',
  await failure(port.create({ name: 'x', language: 'zpl', media }, AbortSignal.abort(new Error('stop')))),
);
port.close();
say('end', null);
