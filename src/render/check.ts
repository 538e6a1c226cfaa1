/**
 * Checks whether a record would print. The service does so at validation, and the agent before the first byte
 * of a job is sent, so that a job with a bad record fails as a whole and not in the middle.
 */

import type { DocumentTemplate } from '../contract/document-template.ts';
import type { LabelRecord } from '../contract/print-request.ts';
import type { Template } from '../contract/template.ts';
import { compileRawZpl } from '../zpl/raw/template.ts';
import { compileLabel, type LabelTarget } from './label-layout.ts';

/** @throws JobFaultError `value-invalid`, `does-not-fit`: what printing the record would raise */
export type RecordCheck = (record: LabelRecord, index: number) => void;

/**
 * Makes a check of a template's records, to be used for all records of a job. Checking a record takes
 * microseconds if its symbols need not be encoded, and at most as long as its layout. A document is checked by drawing it:
 * `compileDocument`.
 * @throws JobFaultError `template-invalid`, and any error that every record would raise
 */
export async function createRecordCheck(
  template: Exclude<Template, DocumentTemplate>,
  target: LabelTarget,
): Promise<RecordCheck> {
  const compiled =
    template.language === 'zpl' ? compileRawZpl(template, target.job) : await compileLabel(template, target);
  return (record, index) => compiled.check(record, index);
}
