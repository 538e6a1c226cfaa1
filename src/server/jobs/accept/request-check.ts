/**
 * The checks that enqueueing and validating share, in the order that the interface lays down: payload (400),
 * template (404), routing, format and values (400). The quota (403) comes last: `validate` checks it, and
 * `enqueue` takes it.
 */

import { isDeepStrictEqual } from 'node:util';
import { LIMITS } from '../../../contract/limits.ts';
import {
  isLabelRecord,
  type LabelRecord,
  labelRecord,
  type PrintRequest,
  printEnvelopeWithin,
} from '../../../contract/print-request.ts';
import { because } from '../../../contract/reason.ts';
import type { Template } from '../../../contract/template.ts';
import type { CheckPool } from '../../../rendering/check-pool.ts';
import type { ServerConfig } from '../../config.ts';
import {
  type Fault,
  faultAt,
  faultsOf,
  MAX_FAULTS,
  ProblemError,
  parseBody,
  payloadInvalid,
  refusedBecause,
} from '../../problems.ts';
import { inStretches, type Long } from '../../stretches.ts';
import type { SavedTemplate, Templates } from '../../templates/templates.ts';
import { requireLengths } from '../../templates/value-lengths.ts';
import { pagedRecords } from './paged-records.ts';
import { requirePrintable } from './printable-values.ts';
import { requireFit } from './required-fit.ts';
import { type Asked, type AskedPrinters, askedOf, type Found, type Route, route } from './route.ts';

export type CheckedRequest = {
  request: PrintRequest;
  template: Template;
  printerCommands: boolean;
  /** Whether it was checked that the label fits the media; undefined: it was not asked. */
  mediaMustFit?: boolean;
  route: Route;
  labels: number;
  /** It may go to a virtual printer only, and counts with the tests. */
  test: boolean;
  /** Show whether what was looked up earlier has changed since. Undefined: it was looked up just now. */
  stamps: { template: string; route: string; asked: Asked } | undefined;
};

/** `long`: some value is so long that only a document may be. */
type Parsed = { request: PrintRequest; labels: number; long: boolean };
/** The template and the printers that a request refers to, as they were looked up. */
type Referred = { saved: SavedTemplate; found: Found };

export class RequestCheck {
  readonly #printers: AskedPrinters;
  readonly #templates: Templates;
  readonly #limits: ServerConfig['limits'];
  readonly #envelope: ReturnType<typeof printEnvelopeWithin>;
  readonly #checks: CheckPool;

  constructor(parts: {
    printers: AskedPrinters;
    templates: Templates;
    limits: ServerConfig['limits'];
    checks: CheckPool;
  }) {
    this.#printers = parts.printers;
    this.#templates = parts.templates;
    this.#checks = parts.checks;
    this.#limits = parts.limits;
    this.#envelope = printEnvelopeWithin(parts.limits);
  }

  /** @throws ProblemError `payload-invalid`, `labels-limit` */
  async payload(body: unknown): Promise<Parsed> {
    const { data, ...rest } = parseBody(this.#envelope, body);
    const { records: own, long } =
      data === undefined
        ? { records: undefined, long: false }
        : await inStretches(recordsOf(data), data.length);
    const request = own === undefined ? rest : { ...rest, data: own };
    const records = data?.length ?? 1;
    return { request, labels: this.#labels(records, request.numberCopies), long };
  }

  /** @throws ProblemError `labels-limit` */
  #labels(records: number, copies: number): number {
    const labels = records * copies;
    if (labels <= this.#limits.labels) return labels;
    const reason = because('labels-many', { records, copies, labels, most: this.#limits.labels });
    throw refusedBecause('labels-limit', reason, { errors: [faultAt('/numberCopies', reason, copies)] });
  }

  /**
   * @param options.test the printer must be virtual
   * @param options.template instead of a saved one; for such a request everything is looked up anew
   * @param options.fresh look everything up anew. Otherwise earlier look-ups may serve, but never to refuse
   * @throws ProblemError `template-not-found`, those of `route`, `media-mismatch`, and `data-unprintable`
   */
  async references(
    tenantId: string,
    parsed: Parsed,
    { fresh, test, template }: { fresh: boolean; test: boolean; template?: Template | undefined },
  ): Promise<CheckedRequest> {
    const asked = askedOf(parsed.request);
    if (template !== undefined) {
      const found = await this.#printers.find(tenantId, asked);
      const saved = { template, printerCommands: false, mediaMustFit: false };
      return await this.#checked(tenantId, parsed, { saved, found }, test);
    }
    const kept = fresh ? undefined : this.#kept(tenantId, parsed.request.idT, asked);
    const stampsOf = ({ saved, found }: Referred) => ({ template: saved.stamp, route: found.stamp, asked });
    if (kept === undefined) {
      const saved = await this.#templates.get(tenantId, parsed.request.idT);
      const found = await this.#printers.find(tenantId, asked);
      return await this.#checked(tenantId, parsed, { saved, found }, test);
    }
    try {
      return { ...(await this.#checked(tenantId, parsed, kept, test)), stamps: stampsOf(kept) };
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      const saved = await this.#templates.get(tenantId, parsed.request.idT);
      const found = await this.#printers.find(tenantId, asked);
      const isSame =
        isDeepStrictEqual(stampsOf(kept), stampsOf({ saved, found })) &&
        kept.saved.printerCommands === saved.printerCommands &&
        kept.saved.mediaMustFit === saved.mediaMustFit;
      // Nothing has changed, so the values would be refused again, and may take long to check.
      if (isSame) throw error;
      return await this.#checked(tenantId, parsed, { saved, found }, test);
    }
  }

  #kept(tenantId: string, templateId: string, asked: Asked): Referred | undefined {
    const saved = this.#templates.kept(tenantId, templateId);
    const found = this.#printers.kept(tenantId, asked);
    return saved === undefined || found === undefined ? undefined : { saved, found };
  }

  async #checked(
    tenantId: string,
    parsed: Parsed,
    { saved, found }: { saved: Omit<SavedTemplate, 'id' | 'stamp'>; found: Found },
    test: boolean,
  ): Promise<CheckedRequest> {
    const { template, printerCommands, mediaMustFit } = saved;
    const { request: asked, long } = parsed;
    if (long) requireLengths(template, asked.data ?? [], (index) => ['data', index]);
    const way = route(asked, found, template, test);
    if (mediaMustFit) requireFit({ template, orientation: asked.orientation, format: way.format });
    const pages = await pagedRecords(this.#checks, tenantId, saved, asked.data, this.#limits.records);
    const request = pages === undefined ? asked : { ...asked, data: pages.records };
    const labels = this.#labels(request.data?.length ?? 1, request.numberCopies);
    await requirePrintable(this.#checks, tenantId, {
      template,
      printerCommands,
      request,
      origins: pages?.origins,
      format: way.format,
    });
    return { request, labels, test, template, printerCommands, mediaMustFit, route: way, stamps: undefined };
  }
}

/** @throws ProblemError `payload-invalid` */
function* recordsOf(data: readonly unknown[]): Long<{ records: LabelRecord[]; long: boolean }> {
  const records: LabelRecord[] = [];
  let long = false;
  const faults: Fault[] = [];
  for (const [index, record] of data.entries()) {
    if (isLabelRecord(record, LIMITS.valueLength)) records.push(record);
    else if (isLabelRecord(record)) {
      records.push(record);
      long = true;
    } else faults.push(...recordFaults(index, record));
    // The answer lists no more faults than `MAX_FAULTS`.
    if (faults.length >= MAX_FAULTS) break;
    yield;
  }
  if (faults.length > 0) throw payloadInvalid(faults);
  return { records, long };
}

function recordFaults(index: number, record: unknown): Fault[] {
  const pointer = `/data/${index}`;
  if (typeof record === 'object' && record !== null && Object.keys(record).length > LIMITS.fieldsPerRecord) {
    return [faultAt(pointer, because('most-fields', { most: LIMITS.fieldsPerRecord }))];
  }
  const faults = faultsOf(labelRecord.safeParse(record).error?.issues ?? [], record);
  if (faults.length === 0) return [faultAt(pointer, because('record-expected', {}))];
  return faults.map((fault) => ({ ...fault, pointer: pointer + fault.pointer }));
}
