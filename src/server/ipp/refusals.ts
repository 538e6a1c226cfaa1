/** The service's errors as IPP's statuses. */
import type { StatusName } from '../../../drivers/ipp/names.ts';
import { IppRefusal } from '../../ipp/refusal.ts';
import { type ProblemCode, ProblemError } from '../problems.ts';

const STATUSES: Partial<Record<ProblemCode, StatusName>> = {
  'permission-missing': 'client-error-forbidden',
  'tenant-forbidden': 'client-error-not-authorized',
  'token-invalid': 'client-error-not-authorized',
  // Printers that count pages say so (PWG 5100.16).
  'quota-exceeded': 'client-error-account-limit-reached',
  'body-too-large': 'client-error-request-entity-too-large',
  'request-late': 'client-error-timeout',
  'payload-invalid': 'client-error-document-format-error',
  'data-unprintable': 'client-error-document-unprintable-error',
  'media-mismatch': 'client-error-attributes-or-values-not-supported',
  'labels-limit': 'client-error-attributes-or-values-not-supported',
  'format-unknown': 'client-error-attributes-or-values-not-supported',
  'format-incompatible': 'client-error-document-format-not-supported',
  'printer-unknown': 'client-error-not-found',
  'printer-unassigned': 'server-error-not-accepting-jobs',
  'printer-not-virtual': 'client-error-not-authorized',
  'job-not-found': 'client-error-not-found',
  'job-not-queued': 'client-error-not-possible',
  'idempotency-key-reused': 'client-error-not-possible',
  'too-many-waiting': 'server-error-too-many-jobs',
  'too-many-requests': 'server-error-busy',
  overloaded: 'server-error-busy',
  'not-ready': 'server-error-busy',
  'enqueue-failed': 'server-error-temporary-error',
};

/** @throws the error itself where it is not one that callers are told of */
function refusalOf(error: unknown): IppRefusal {
  if (error instanceof IppRefusal) return error;
  const status = error instanceof ProblemError ? STATUSES[error.code] : undefined;
  if (!(error instanceof ProblemError) || status === undefined) throw error;
  return new IppRefusal(status, error.message);
}

/** Passes on what it does, with the service's errors as refusals. */
export async function refusing<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw refusalOf(error);
  }
}
