/**
 * Would this record print? Asked by the service at validation, and by the agent before the first byte of a job
 * is sent, so that a job with a bad record fails as a whole and not in the middle.
 */
import type { LabelRecord } from '../contract/print-request.ts';
import type { Template } from '../contract/template.ts';
import { compileRawZpl } from '../zpl/raw/template.ts';
import { compileLabel, type LabelTarget } from './label-layout.ts';

/** @throws JobFaultError `value-invalid`, `does-not-fit`: what printing the record would raise */
export type RecordCheck = (record: LabelRecord, index: number) => void;

/**
 * A check of a template's records. Compile it once a job: a record takes microseconds where it can be told
 * without encoding its symbols, and at most as long as its layout.
 * @throws JobFaultError `template-invalid`, and what every record would raise
 */
export async function createRecordCheck(template: Template, target: LabelTarget): Promise<RecordCheck> {
  const compiled =
    template.language === 'zpl' ? compileRawZpl(template, target.job) : await compileLabel(template, target);
  return (record, index) => compiled.check(record, index);
}
