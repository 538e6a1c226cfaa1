/** `POST /v2/labels`: a label of a saved template as it would print, without a job. */
import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { recordsAt } from '../../../contract/document-pages.ts';
import type { PrinterFormat } from '../../../contract/format.ts';
import { labelsRequest } from '../../../contract/integrator-view.ts';
import { LIMITS } from '../../../contract/limits.ts';
import type { Orientation } from '../../../contract/print-request.ts';
import { because } from '../../../contract/reason.ts';
import type { Template } from '../../../contract/template.ts';
import type { CheckPool } from '../../../rendering/check-pool.ts';
import { PartyLimit } from '../../party-limit.ts';
import { faultAt, ProblemError, parseBody, payloadInvalid, refusedBecause } from '../../problems.ts';
import { drawn, inTime } from '../../templates/drawn-label.ts';
import { UNKNOWN_SIZE } from '../../templates/preview.ts';
import type { Templates } from '../../templates/templates.ts';
import { requireLengths } from '../../templates/value-lengths.ts';
import { pagedRecords } from './paged-records.ts';
import { requireValues } from './printable-values.ts';

type RenderedLabel = { language: Language; file: Uint8Array; labels: number };
type Language = z.infer<typeof labelsRequest>['language'];

/** The ID of the printer of a label that no printer gets. */
const NO_PRINTER = 'none';

/** A template whose labels lie on no sheet: one label is asked for. */
function alone(template: Template): Template {
  if (template.language !== 'platen') return template;
  const { sheet: _, ...single } = template;
  return single;
}

/** Media of the label's own size. A raw template keeps the resolution that it was written for. */
function formatOf(
  template: Template,
  { dpi, orientation, language }: { dpi: number; orientation: Orientation; language: Language },
): PrinterFormat {
  const size = {
    width: template.width ?? UNKNOWN_SIZE.width,
    height: template.height ?? UNKNOWN_SIZE.height,
  };
  const turned = orientation === 'landscape' ? { width: size.height, height: size.width } : size;
  return {
    ...{ id: language, name: language, language, ...turned },
    dpi: (template.language === 'zpl' && template.dpi) || dpi,
    // The label stands alone: no printer has anything of it in its memory.
    storedFormats: false,
  };
}

export class RenderedLabels {
  readonly #templates: Pick<Templates, 'get'>;
  readonly #checks: CheckPool;
  /** By tenant, whose other checks take turns with these. */
  readonly #inHand = new PartyLimit(4);

  constructor(templates: Pick<Templates, 'get'>, checks: CheckPool) {
    this.#templates = templates;
    this.#checks = checks;
  }

  /**
   * The label that the request asks for, and how many labels the request has.
   * @throws ProblemError `too-many-requests`, `payload-invalid`, `template-not-found`, `format-incompatible`,
   *   `data-unprintable`, `labels-limit`, `label-undrawable`, `not-ready`
   */
  async file(tenantId: string, body: unknown): Promise<RenderedLabel> {
    const end = this.#inHand.begin(tenantId);
    if (end === undefined) {
      const detail = `the tenant has ${this.#inHand.most} labels drawn at a time: ask again after one of them`;
      throw new ProblemError('too-many-requests', detail, { headers: { 'retry-after': '1' } });
    }
    try {
      return await this.#draw(tenantId, body);
    } finally {
      end();
    }
  }

  async #draw(tenantId: string, body: unknown): Promise<RenderedLabel> {
    const { idT, data, label, dpi, orientation, language } = parseBody(labelsRequest, body);
    const saved = await this.#templates.get(tenantId, idT);
    const { template, printerCommands } = saved;
    requireLengths(template, data ?? [], (index) => ['data', index]);
    const pages = await pagedRecords(this.#checks, tenantId, saved, data, LIMITS.records);
    const records = pages?.records ?? data ?? [{}];
    const [record] = recordsAt(records, [label], template);
    if (record === undefined || label >= records.length) {
      const expected = because('whole-number', { least: 0, most: records.length - 1 });
      throw payloadInvalid([faultAt('/label', expected, label)]);
    }
    if (template.language === 'zpl' && orientation === 'landscape') {
      const reason = because('raw-orientation', {});
      throw refusedBecause('format-incompatible', reason, {
        errors: [faultAt('/orientation', reason, orientation)],
      });
    }
    const request = { data: pages?.records ?? data, orientation, numberCopies: 1 };
    const media = UNKNOWN_SIZE;
    await requireValues(this.#checks, tenantId, {
      ...{ template, printerCommands, request, dpi, language, media },
      origins: pages?.origins,
    });
    const job = {
      createdAt: new Date().toISOString(),
      copies: 1,
      ...(printerCommands && { printerCommands: true as const }),
    };
    const labels = records.length;
    if (language === 'png') {
      const { png } = await drawn(this.#checks, tenantId, {
        ...{ template, dpi, media, orientation, record },
        job: { ...job, records: { length: labels } },
        index: label,
        copy: 0,
        preview: false,
      });
      if (png === null) throw new Error('a picture without dots');
      return { language, file: png, labels };
    }
    const file = await inTime((times) => {
      const check = {
        kind: 'bytes' as const,
        job: {
          ...job,
          ...{ v: 1 as const, jobId: randomUUID(), tenantId, scope: null, templateId: idT, orientation },
          template: alone(template),
          printerId: NO_PRINTER,
          // The thread is given the label's own record only, at its place.
          records: records.map((_, at) => (at === label ? record : {})),
          format: formatOf(template, { dpi, orientation, language }),
        },
        record: label,
      };
      return this.#checks.run(tenantId, check, times);
    });
    return { language, file, labels };
  }
}
