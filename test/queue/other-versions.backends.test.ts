/** Agents and services of different versions at one queue: what one does not know of the other is left out, no more. */
import { describe, expect, it } from 'vitest';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import type { Report } from '../../src/contract/report.ts';
import { agentBackends } from '../kit/queue/over-gateway.ts';
import { Collected, job, printerId, report } from '../kit/queue/samples.ts';
import { serve } from '../kit/queue/serving.ts';
import { useQueues } from '../kit/queue/use-queues.ts';
import { tried } from '../kit/servers/backends.ts';

/** What only a later version can make. */
function later<T>(made: object): T {
  return JSON.parse(JSON.stringify(made));
}

describe.each(tried(agentBackends()))('another version at the queue on $name', (backend) => {
  const used = useQueues(backend);

  it('a heartbeat with a new language, reason and state keeps all that is known, and is logged once', async () => {
    const { format } = job(printerId());
    const described = {
      id: printerId(),
      name: 'Dock',
      evidence: 'serial',
      uri: 'socket://10.0.0.7',
      reasons: [],
    };
    const heartbeat = {
      kind: 'agent',
      agentId: 'agent-0001',
      // What the service calls it, if it has enrolled.
      name: 'agent-0001',
      version: '9.0.0',
      tenantId: null,
      at: '2026-11-21T10:00:00.000Z',
      online: true,
      mood: 'fine',
      printers: [
        {
          ...described,
          state: 'dreaming',
          reasons: ['media-empty', 'platen-worn', 'head-cold'],
          formats: [format, { ...format, id: 'sbpl-203', language: 'sbpl' }],
          shelf: 4,
        },
        { ...described, id: printerId(), state: 'idle', formats: [{ ...format, language: 'sbpl' }] },
      ],
    };
    const got = new Collected<Report>();
    await used.queues.consumeReports(async (batch) => {
      for (const { report: one } of batch) got.add(one);
    });
    await used.queues.publish(later<Report>(heartbeat), null);
    await used.queues.publish(later<Report>(heartbeat), null);
    const [first, second] = await got.reach(2);
    const { mood: _mood, ...known } = heartbeat;
    expect(first).toEqual({
      ...known,
      printers: [
        {
          ...described,
          id: heartbeat.printers[0]?.id,
          state: 'unknown',
          reasons: ['media-empty', 'other'],
          formats: [format],
        },
      ],
    });
    expect(second).toEqual(first);
    const told = used.logger.lines.filter((line) => line.startsWith('left out of a report'));
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(/printers\/formats\/language: invalid_value/);
    expect(used.logger.lines.join()).not.toMatch(/sbpl|platen-worn|Dock/);
  });

  it("a job's report with a new reason and fault counts; one with a new status is set aside", async () => {
    const of = job(printerId());
    const got = new Collected<Report>();
    await used.queues.consumeReports(async (batch) => {
      for (const { report: one } of batch) got.add(one);
    });
    const uncertain = { from: 0, to: 2 };
    const error = { code: 'head-too-cold', message: 'The head does not get warm' };
    await used.queues.publish(later<Report>({ ...report(of, 1), status: 'thawing' }), null);
    await used.queues.publish(
      later<Report>({ ...report(of, 2), status: 'held', reasons: ['head-cold'], error, uncertain }),
      null,
    );
    expect(await got.reach(1)).toEqual([
      {
        ...report(of, 2),
        status: 'held',
        reasons: ['other'],
        error: { ...error, code: 'internal' },
        uncertain,
      },
    ]);
  });

  it('a held job that does not say why, or which labels are uncertain, is held, and all may be', async () => {
    const of = job(printerId());
    const got = new Collected<Report>();
    await used.queues.consumeReports(async (batch) => {
      for (const { report: one } of batch) got.add(one);
    });
    await used.queues.publish(later<Report>({ ...report(of, 1), status: 'held' }), null);
    await used.queues.publish(later<Report>({ ...report(of, 2), status: 'canceled' }), null);
    expect(await got.reach(2)).toEqual([
      {
        ...report(of, 1),
        status: 'held',
        error: { code: 'internal', message: expect.any(String) },
        uncertain: { from: 0, to: 2 ** 31 - 1 },
      },
      { ...report(of, 2), status: 'canceled' },
    ]);
  });

  it('a job of a later service prints, with what this agent does not know left out', async () => {
    const printer = printerId();
    const own = job(printer);
    const extended = { ...own, priority: 'high', format: { ...own.format, polish: true } };
    await used.queues.enqueue(later<QueuedJob>(extended));
    const got = new Collected<QueuedJob>();
    await serve(used.queues, printer, async (delivery) => {
      got.add(delivery.job);
      return 'done';
    });
    expect(await got.reach(1)).toEqual([own]);
  });
});
