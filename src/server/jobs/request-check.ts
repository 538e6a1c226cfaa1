/**
 * The checks that enqueueing and validating share, in the order that the interface lays down: payload (400),
 * template (404), routing and format (400). The quota (403) comes last, and is the caller's to check or to take.
 */
import { type PrintRequest, printRequestWithin } from '../../contract/print-request.ts';
import type { Template } from '../../contract/template.ts';
import type { ServerConfig } from '../config.ts';
import { ProblemError, parseBody, shorten } from '../problems.ts';
import type { Pool } from '../store/pool.ts';
import type { Templates } from '../templates/templates.ts';
import { type Route, route } from './route.ts';

export type CheckedRequest = { request: PrintRequest; template: Template; route: Route; labels: number };

export class RequestCheck {
  readonly #pool: Pool;
  readonly #templates: Templates;
  readonly #limits: ServerConfig['limits'];
  readonly #schema: ReturnType<typeof printRequestWithin>;

  constructor(pool: Pool, templates: Templates, limits: ServerConfig['limits']) {
    this.#pool = pool;
    this.#templates = templates;
    this.#limits = limits;
    this.#schema = printRequestWithin(limits);
  }

  /** @throws ProblemError `payload-invalid`, `labels-limit` */
  payload(body: unknown): { request: PrintRequest; labels: number } {
    const request = parseBody(this.#schema, body);
    const records = request.data?.length ?? 1;
    const labels = records * request.numberCopies;
    if (labels > this.#limits.labels) {
      const detail = `${records} records × ${request.numberCopies} copies are ${labels} labels; the limit is ${this.#limits.labels}`;
      throw new ProblemError('labels-limit', detail, {
        errors: [{ pointer: '/numberCopies', detail, value: shorten(request.numberCopies) }],
      });
    }
    return { request, labels };
  }

  /** @throws ProblemError `template-not-found` and those of `route` */
  async references(
    tenantId: string,
    parsed: { request: PrintRequest; labels: number },
  ): Promise<CheckedRequest> {
    const { template } = await this.#templates.get(tenantId, parsed.request.idT);
    return { ...parsed, template, route: await route(this.#pool, tenantId, parsed.request, template) };
  }
}
