/**
 * Shared by the layouts of all elements: place, layout function, and the error that names the place.
 */
import { type JobFaultCode, JobFaultError } from '../contract/fault.ts';
import type { Reason } from '../contract/reason.ts';
import { FieldFault } from '../values/said-fault.ts';
import type { Item, Rect } from './display-list.ts';

/** Says which element of which template. The record is added by those who know it (`jobFaultOf`). */
export interface ElementPlace {
  readonly template: string;
  /** JSON pointer. */
  readonly pointer: string;
  /** What a person calls it: `text`, `barcode ean13`. */
  readonly what: string;
}

/** What an element draws for one record. `quick`: only the faults matter, the items are not used. */
export interface ElementLayout {
  /** The fields that it depends on. */
  readonly fields: readonly string[];
  /** @throws ElementFault */
  readonly layout: (
    record: Readonly<Record<string, string | number | boolean | null>>,
    quick: boolean,
  ) => Item[];
}

/** Thrown for an element that cannot be made for a record. */
export class ElementFault extends FieldFault {
  override readonly name = 'ElementFault';
  readonly code: JobFaultCode;
  readonly place: ElementPlace;
  /** Draws an element that does not fit as it would be, for a picture that marks it as refused. @throws ElementFault */
  readonly unfit: (() => Item[]) | undefined;

  constructor(
    code: JobFaultCode,
    place: ElementPlace,
    said: Reason,
    more: { field?: string | undefined; unfit?: () => Item[] } = {},
  ) {
    super(said, more.field);
    this.code = code;
    this.place = place;
    this.unfit = more.unfit;
  }
}

/** The error that a job shows. Without `record`, the template itself is wrong. The message counts records from 1. */
export function jobFaultOf(
  { code, place, said, message, field }: ElementFault,
  record?: number,
): JobFaultError {
  const { template, pointer, what } = place;
  const where = record === undefined ? '' : `, record ${record + 1}`;
  return new JobFaultError(
    code,
    `Template ${JSON.stringify(template)}, element ${pointer} (${what})${where}: ${message}`,
    {
      element: pointer,
      reason: said,
      ...(record === undefined ? {} : { record }),
      ...(field === undefined ? {} : { field }),
    },
  );
}

/** Whether all of a rectangle lies on the label. */
export function isInside(label: Pick<Rect, 'width' | 'height'>, rect: Rect): boolean {
  return (
    rect.x >= 0 && rect.y >= 0 && rect.x + rect.width <= label.width && rect.y + rect.height <= label.height
  );
}
