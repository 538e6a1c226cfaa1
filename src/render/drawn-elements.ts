/**
 * The elements of a designed template at one resolution, with one record. Each is compiled and laid out only once, so that
 * the check and the picture use the same items.
 */
import type { LabelRecord } from '../contract/print-request.ts';
import type { DesignedTemplate } from '../contract/template.ts';
import { type JobFacts, templateScope } from '../values/built-ins.ts';
import { type Assets, createAssets } from './assets.ts';
import type { Item } from './display-list.ts';
import { requireDots } from './dot-limit.ts';
import { compileElement } from './element.ts';
import { type LabelGrid, labelGrid } from './label-grid.ts';
import type { ElementLayout } from './place.ts';

interface DrawnWith {
  readonly dpi: number;
  readonly job: JobFacts;
  /** Including the numbers of the record and the copy (`numbered`). */
  readonly record: LabelRecord;
  /** If left out, the template's own are decoded when they are needed. */
  readonly assets?: Assets | undefined;
}

export class DrawnElements {
  readonly grid: LabelGrid;
  readonly assets: Assets;
  readonly #template: DesignedTemplate;
  readonly #record: LabelRecord;
  readonly #scope: ReturnType<typeof templateScope>;
  readonly #compiled = new Map<number, Promise<ElementLayout>>();
  readonly #items = new Map<number, readonly Item[]>();

  /** @throws JobFaultError `template-invalid`: an unknown time zone, or too many dots */
  constructor(template: DesignedTemplate, { dpi, job, record, assets = createAssets(template) }: DrawnWith) {
    this.grid = labelGrid(template, dpi);
    this.assets = assets;
    this.#template = template;
    this.#record = record;
    this.#scope = templateScope(template, job);
    requireDots('label', this.grid, dpi);
  }

  /** @throws ElementFault; JobFaultError `template-invalid` (placeholders) */
  async compiled(index: number): Promise<ElementLayout> {
    const known =
      this.#compiled.get(index) ?? compileElement(this.#template, index, this.grid, this.#scope, this.assets);
    this.#compiled.set(index, known);
    return await known;
  }

  /** @throws ElementFault; JobFaultError `template-invalid` (placeholders) */
  async items(index: number): Promise<readonly Item[]> {
    const known = this.#items.get(index) ?? (await this.compiled(index)).layout(this.#record, false);
    this.#items.set(index, known);
    return known;
  }
}
