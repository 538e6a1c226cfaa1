/** Refuses values that are too long for their fields: only its template tells which field holds a document. */
import { LIMITS } from '../../contract/limits.ts';
import { isLabelRecord, type LabelRecord } from '../../contract/print-request.ts';
import { because } from '../../contract/reason.ts';
import { longFields, type Template } from '../../contract/template.ts';
import { faultAt, jsonPointer, MAX_FAULTS, payloadInvalid } from '../problems.ts';

/**
 * @param at the record's place in the body
 * @throws ProblemError `payload-invalid`
 */
export function requireLengths(
  template: Template,
  records: readonly LabelRecord[],
  at: (index: number) => readonly PropertyKey[],
): void {
  const faults = records.flatMap((record, index) => {
    if (isLabelRecord(record, LIMITS.valueLength)) return [];
    const reason = because('record-value', { most: LIMITS.valueLength });
    return longFields(record, template).map((name) =>
      faultAt(jsonPointer([...at(index), name]), reason, record[name]),
    );
  });
  if (faults.length > 0) throw payloadInvalid(faults.slice(0, MAX_FAULTS), faults.length);
}
