/**
 * The trace of a job as OTLP/HTTP has it in JSON (opentelemetry-proto, `ExportTraceServiceRequest`): the request, below it the
 * job from its acceptance to its end, and below that its wait and the agent's part. No record's value, no text that people or
 * strangers wrote, and no person's name is in it.
 */
import { createHash } from 'node:crypto';
import type { TraceContext } from './trace-parent.ts';

/** Times are ms since 1970, with fractions. */
export type TracedJob = TraceContext & {
  jobId: string;
  tenant: string;
  template: string;
  printer: string;
  agent: string | null;
  status: string;
  /** The code of its fault. */
  fault: string | null;
  labels: { total: number; sent: number; printed: number };
  deliveries: number;
  beganAt: number;
  answeredAt: number;
  acceptedAt: number;
  endedAt: number;
  /** By the agent's clock. */
  agentTimes: { takenAt: number; sentAt: number | null; saidAt: number } | null;
  events: readonly { at: number; kind: string; reasons: readonly string[]; printer: string }[];
};

const KIND = { internal: 1, server: 2, consumer: 5 } as const;
const ERROR = 2;

type Value = string | number | readonly string[];
type Attributes = Readonly<Record<string, Value | null>>;

/** @param service the name of the service; its agents are told as `…-agent` */
export function tracesRequest(jobs: readonly TracedJob[], service: string): object {
  const parts = jobs.map(spansOf);
  const resource = (name: string, spans: readonly object[]) => ({
    resource: { attributes: attributes({ 'service.name': name }) },
    scopeSpans: [{ scope: { name: 'platen' }, spans }],
  });
  const ofAgents = parts.flatMap(({ agent }) => agent);
  return {
    resourceSpans: [
      resource(
        service,
        parts.flatMap((part) => part.service),
      ),
      ...(ofAgents.length === 0 ? [] : [resource(`${service}-agent`, ofAgents)]),
    ],
  };
}

function spansOf(job: TracedJob): { service: object[]; agent: object[] } {
  const { trace, span, parent, acceptedAt, endedAt, labels } = job;
  const jobSpan = below(job, 'job');
  const print = printOf(job);
  const service = [
    {
      ...{ traceId: trace, spanId: span, ...(parent !== null && { parentSpanId: parent }) },
      ...{ name: 'POST /v2/jobs', kind: KIND.server, ...times(job.beganAt, job.answeredAt) },
      attributes: attributes({
        'http.request.method': 'POST',
        'http.route': '/v2/jobs',
        'http.response.status_code': 201,
        'platen.tenant.id': job.tenant,
        'platen.job.id': job.jobId,
      }),
    },
    {
      ...{ traceId: trace, spanId: jobSpan, parentSpanId: span },
      ...{ name: `job ${job.status}`, kind: KIND.internal, ...times(acceptedAt, endedAt) },
      attributes: attributes({
        'platen.tenant.id': job.tenant,
        'platen.job.id': job.jobId,
        'platen.job.status': job.status,
        'platen.template.id': job.template,
        'platen.printer.id': job.printer,
        'platen.labels.total': labels.total,
        'platen.labels.sent': labels.sent,
        'platen.labels.printed': labels.printed,
        'platen.job.deliveries': job.deliveries,
      }),
      events: job.events.map(({ at, kind, reasons, printer }) => ({
        ...{ timeUnixNano: nanoseconds(at), name: kind },
        attributes: attributes({ 'platen.reasons': reasons, 'platen.printer.id': printer }),
      })),
      ...((job.status === 'failed' || job.status === 'held') && {
        status: { code: ERROR, message: job.fault ?? job.status },
      }),
    },
    {
      ...{ traceId: trace, spanId: below(job, 'wait'), parentSpanId: jobSpan },
      ...{ name: 'wait', kind: KIND.internal, ...times(acceptedAt, print?.from ?? endedAt) },
      attributes: attributes({ 'platen.printer.id': job.printer }),
    },
  ];
  if (print === null) return { service, agent: [] };
  const agent = {
    ...{ traceId: trace, spanId: below(job, 'print'), parentSpanId: jobSpan },
    ...{ name: 'print', kind: KIND.consumer, ...times(print.from, print.to) },
    attributes: attributes({ 'platen.agent.id': job.agent, 'platen.printer.id': job.printer }),
    events:
      print.sent === null
        ? []
        : [{ timeUnixNano: nanoseconds(print.sent), name: 'labels sent', attributes: [] }],
  };
  return { service, agent: [agent] };
}

/** The agent's part. Where its clock is wrong the part keeps its length, and ends when the service heard of the end. */
function printOf({
  agentTimes,
  acceptedAt,
  endedAt,
}: TracedJob): { from: number; to: number; sent: number | null } | null {
  if (agentTimes === null) return null;
  const { takenAt, sentAt, saidAt } = agentTimes;
  const isRight = acceptedAt <= takenAt && takenAt <= saidAt && saidAt <= endedAt;
  const shift = isRight ? 0 : endedAt - saidAt;
  const between = (at: number) => Math.min(Math.max(at + shift, acceptedAt), endedAt);
  return { from: between(takenAt), to: between(saidAt), sent: sentAt === null ? null : between(sentAt) };
}

/** A span's ID. The same when the trace is told again, so that it is the same span. */
function below({ trace, span }: TraceContext, name: string): string {
  return createHash('sha256').update(`${trace} ${span} ${name}`).digest('hex').slice(0, 16);
}

function times(from: number, to: number): { startTimeUnixNano: string; endTimeUnixNano: string } {
  return { startTimeUnixNano: nanoseconds(from), endTimeUnixNano: nanoseconds(Math.max(from, to)) };
}

function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1_000)) * 1_000n);
}

function attributes(all: Attributes): object[] {
  return Object.entries(all).flatMap(([key, value]) =>
    value === null || (typeof value === 'object' && value.length === 0)
      ? []
      : [{ key, value: anyValue(value) }],
  );
}

function anyValue(value: Value): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'number') return { intValue: String(value) };
  return { arrayValue: { values: value.map((stringValue) => ({ stringValue })) } };
}
