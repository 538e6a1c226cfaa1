/**
 * The checks that enqueueing and validating share, in the order that the interface lays down: payload (400),
 * template (404), routing, format and values (400). The quota (403) comes last, and is the caller's to check or to take.
 */

import { LIMITS } from '../../../contract/limits.ts';
import {
  isLabelRecord,
  type LabelRecord,
  labelRecord,
  type PrintRequest,
  printEnvelopeWithin,
} from '../../../contract/print-request.ts';
import type { Template } from '../../../contract/template.ts';
import type { CheckPool } from '../../../rendering/check-pool.ts';
import type { ServerConfig } from '../../config.ts';
import {
  type Fault,
  faultsOf,
  MAX_FAULTS,
  ProblemError,
  parseBody,
  payloadInvalid,
  shorten,
} from '../../problems.ts';
import type { Pool } from '../../store/pool.ts';
import { inStretches, type Long } from '../../stretches.ts';
import type { Templates } from '../../templates/templates.ts';
import { requirePrintable } from './printable-values.ts';
import { type Route, route } from './route.ts';

export type CheckedRequest = {
  request: PrintRequest;
  template: Template;
  printerCommands: boolean;
  route: Route;
  labels: number;
};

export class RequestCheck {
  readonly #pool: Pool;
  readonly #templates: Templates;
  readonly #limits: ServerConfig['limits'];
  readonly #envelope: ReturnType<typeof printEnvelopeWithin>;
  readonly #checks: CheckPool;

  constructor(pool: Pool, templates: Templates, limits: ServerConfig['limits'], checks: CheckPool) {
    this.#pool = pool;
    this.#templates = templates;
    this.#checks = checks;
    this.#limits = limits;
    this.#envelope = printEnvelopeWithin(limits);
  }

  /** @throws ProblemError `payload-invalid`, `labels-limit` */
  async payload(body: unknown): Promise<{ request: PrintRequest; labels: number }> {
    const { data, ...rest } = parseBody(this.#envelope, body);
    const request =
      data === undefined ? rest : { ...rest, data: await inStretches(recordsOf(data), data.length) };
    const records = data?.length ?? 1;
    const labels = records * request.numberCopies;
    if (labels > this.#limits.labels) {
      const detail = `${records} records × ${request.numberCopies} copies are ${labels} labels; the limit is ${this.#limits.labels}`;
      throw new ProblemError('labels-limit', detail, {
        errors: [{ pointer: '/numberCopies', detail, value: shorten(request.numberCopies) }],
      });
    }
    return { request, labels };
  }

  /** @throws ProblemError `template-not-found`, those of `route`, and `data-unprintable` */
  async references(
    tenantId: string,
    parsed: { request: PrintRequest; labels: number },
  ): Promise<CheckedRequest> {
    const { template, printerCommands } = await this.#templates.get(tenantId, parsed.request.idT);
    const way = await route(this.#pool, tenantId, parsed.request, template);
    const { request } = parsed;
    await requirePrintable(this.#checks, tenantId, {
      template,
      printerCommands,
      request,
      format: way.format,
    });
    return { ...parsed, template, printerCommands, route: way };
  }
}

/** @throws ProblemError `payload-invalid` */
function* recordsOf(data: readonly unknown[]): Long<LabelRecord[]> {
  const records: LabelRecord[] = [];
  const faults: Fault[] = [];
  for (const [index, record] of data.entries()) {
    if (isLabelRecord(record)) records.push(record);
    else faults.push(...recordFaults(index, record));
    // The answer lists no more faults than that.
    if (faults.length >= MAX_FAULTS) break;
    yield;
  }
  if (faults.length > 0) throw payloadInvalid(faults);
  return records;
}

function recordFaults(index: number, record: unknown): Fault[] {
  const pointer = `/data/${index}`;
  if (typeof record === 'object' && record !== null && Object.keys(record).length > LIMITS.fieldsPerRecord) {
    return [{ pointer, detail: `expected at most ${LIMITS.fieldsPerRecord} fields` }];
  }
  const faults = faultsOf(labelRecord.safeParse(record).error?.issues ?? [], record);
  if (faults.length === 0) return [{ pointer, detail: 'expected a record' }];
  return faults.map((fault) => ({ ...fault, pointer: pointer + fault.pointer }));
}
