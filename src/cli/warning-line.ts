import type { ValidationResult } from '../contract/admin.ts';

/** What a validation warns of, for a person: records count from 1. */
export function warningLine({ message, code, record, field }: ValidationResult['warnings'][number]): string {
  const place = [
    ...(record === undefined ? [] : [`record ${record + 1}`]),
    ...(field === undefined ? [] : [`field "${field}"`]),
  ];
  return `warning: ${place.length === 0 ? '' : `${place.join(', ')}: `}${message} [${code}]`;
}
