/**
 * An agent in a process of its own, for tests that kill it. It kills itself at a point that the test names: the
 * `nth` time that it gets there, with SIGKILL, so that nothing is flushed, closed or said.
 */
import { flushCompileCache } from 'node:module';
import { IppClient } from '../../../drivers/ipp/client.ts';
import type { DocumentTransport } from '../../../drivers/transports/document/document.ts';
import type { StreamTransport } from '../../../drivers/transports/transport.ts';
import { Transports } from '../../../drivers/transports/transports.ts';
import { Agent } from '../../../src/agent/agent.ts';
import type { RawAgentConfig } from '../../../src/agent/config.ts';
import { standardDrivers } from '../../../src/agent/drivers.ts';
import {
  type DeliveryQueue,
  type JoiningAgent,
  openGateway,
  openQueues,
  type QueuesOptions,
} from '../../../src/queue/index.ts';
import { ownQueue } from './own-queue.ts';
import { logger, testDrivers, withoutOdometer } from './site.ts';

export const CRASH_POINTS = [
  'about to take jobs',
  'picked up',
  'before the note',
  'after the note',
  'before bytes',
  'inside bytes',
  'after bytes',
  'before the report of the outcome',
  'after the report of the outcome',
  'before done',
] as const;
/** Further points, at a printer that takes documents. */
export const DOCUMENT_POINTS = [
  'before the printer job',
  'after the printer job',
  'before the document',
  'inside the document',
  'after the document',
  'before its state',
  'after its state',
] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number] | (typeof DOCUMENT_POINTS)[number];

const GATEWAY_RETRY = { first: 20, most: 200, refused: 200 };

export interface AgentProcessOptions {
  config: RawAgentConfig;
  queues: Omit<QueuesOptions, 'logger'>;
  /** Set: it is at another site, and has its queues through the service's gateway. */
  enrolment?: JoiningAgent;
  odometer: boolean;
  /** `SIGSTOP`: it only sleeps, until it is woken. */
  crash: { point: CrashPoint; nth: number; signal?: 'SIGKILL' | 'SIGSTOP' } | null;
  /** The languages that labels are sent in: the test's own, or the agent's. */
  languages?: 'plain' | 'standard';
}

if (import.meta.main) await run(JSON.parse(process.argv[2] ?? '{}'));

async function run(options: AgentProcessOptions): Promise<void> {
  const { config, queues: queueOptions, enrolment, odometer, crash, languages = 'plain' } = options;
  let passed = 0;
  const at = (point: CrashPoint) => {
    if (crash?.point === point && ++passed === crash.nth) {
      process.kill(process.pid, crash.signal ?? 'SIGKILL');
    }
  };
  const queues = await (enrolment === undefined
    ? openQueues({ ...queueOptions, logger })
    : openGateway({ agent: enrolment, logger, retry: GATEWAY_RETRY }));
  const chosen = languages === 'plain' ? testDrivers : standardDrivers;
  const drivers = odometer ? chosen : withoutOdometer(chosen);
  const agent = new Agent({
    config,
    queue: crashing(ownQueue(queues), at),
    drivers: { ...drivers, transports: crashingTransports(drivers.transports, at) },
    logger,
  });
  await agent.start();
  // A killed agent writes no compile cache, and the next one would have to compile everything again.
  flushCompileCache();
  process.stdout.write('started\n');
}

function crashing(queue: DeliveryQueue, at: (point: CrashPoint) => void): DeliveryQueue {
  return {
    ...queue,
    async publish(report, scope) {
      const outcome = report.kind === 'job' && report.status !== 'printing';
      if (outcome) at('before the report of the outcome');
      const published = await queue.publish(report, scope);
      if (outcome) at('after the report of the outcome');
      return published;
    },
    async consume(printerId, term, handler, options) {
      const consumer = await queue.consume(
        printerId,
        term,
        async (delivery) => {
          at('picked up');
          const result = await handler({
            ...delivery,
            setNote: async (note) => {
              at('before the note');
              await delivery.setNote(note);
              at('after the note');
            },
          });
          at('before done');
          return result;
        },
        options,
      );
      at('about to take jobs');
      return consumer;
    },
  };
}

function crashingTransports(transports: Transports, at: (point: CrashPoint) => void): Transports {
  return new Transports(
    [...transports].map((transport) =>
      transport.takes === 'bytes' ? crashingConnections(transport, at) : crashingDocuments(transport, at),
    ),
  );
}

function crashingConnections(transport: StreamTransport, at: (point: CrashPoint) => void): StreamTransport {
  return {
    ...transport,
    open: async (uri, timeouts, signal) => {
      const connection = await transport.open(uri, timeouts, signal);
      return {
        closed: connection.closed,
        query: (bytes, complete, options) => connection.query(bytes, complete, options),
        close: () => connection.close(),
        async write(bytes, writing) {
          // The points are at labels, not at what a connection begins with.
          if (!Buffer.from(bytes).includes('^XA')) return await connection.write(bytes, writing);
          at('before bytes');
          const half = Math.floor(bytes.length / 2);
          await connection.write(bytes.subarray(0, half), writing);
          at('inside bytes');
          await connection.write(bytes.subarray(half), writing);
          at('after bytes');
        },
      };
    },
  };
}

function crashingDocuments(transport: DocumentTransport, at: (point: CrashPoint) => void): DocumentTransport {
  return {
    ...transport,
    open: (uri, timeouts, access) => {
      const port = transport.open(uri, timeouts, access);
      return {
        describe: (signal) => port.describe(signal),
        status: (signal) => port.status(signal),
        find: (name, signal) => port.find(name, signal),
        cancel: (job, signal) => port.cancel(job, signal),
        close: () => port.close(),
        async create(request, signal) {
          at('before the printer job');
          const job = await port.create(request, signal);
          at('after the printer job');
          return job;
        },
        async send(job, mediaType, document, signal) {
          at('before the document');
          const client = new IppClient(uri.href);
          async function* halves() {
            const half = Math.floor(document.length / 2);
            yield document.subarray(0, half);
            at('inside the document');
            yield document.subarray(half);
          }
          await client.sendDocument(Number(job), mediaType, halves(), signal);
          client.close();
          at('after the document');
        },
        async jobState(job, signal) {
          at('before its state');
          const state = await port.jobState(job, signal);
          at('after its state');
          return state;
        },
      };
    },
  };
}
