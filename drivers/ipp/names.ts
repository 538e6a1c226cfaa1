/**
 * The numbers of operations, states and outcomes in IPP. Source: RFC 8011 §5.4.15, §5.3.7, §5.4.11, Appendix B; IANA "IPP
 * Registrations"; CUPS for 0x4000 and up.
 */

export const OPERATIONS = {
  'Print-Job': 0x0002,
  'Validate-Job': 0x0004,
  'Create-Job': 0x0005,
  'Send-Document': 0x0006,
  'Cancel-Job': 0x0008,
  'Get-Job-Attributes': 0x0009,
  'Get-Jobs': 0x000a,
  'Get-Printer-Attributes': 0x000b,
  'Hold-Job': 0x000c,
  'Release-Job': 0x000d,
  'Pause-Printer': 0x0010,
  'Resume-Printer': 0x0011,
  'Cancel-My-Jobs': 0x0039,
  'Close-Job': 0x003b,
  'Identify-Printer': 0x003c,
  'CUPS-Get-Default': 0x4001,
  'CUPS-Get-Printers': 0x4002,
} as const;
export type OperationName = keyof typeof OPERATIONS;

export const PRINTER_STATES: ReadonlyMap<number, 'idle' | 'processing' | 'stopped'> = new Map([
  [3, 'idle'],
  [4, 'processing'],
  [5, 'stopped'],
]);

export const IPP_JOB_STATES = [
  'pending',
  'pending-held',
  'processing',
  'processing-stopped',
  'canceled',
  'aborted',
  'completed',
] as const;
export type IppJobState = (typeof IPP_JOB_STATES)[number];
/** job-state counts from 3. */
export const JOB_STATES: ReadonlyMap<number, IppJobState> = new Map(
  IPP_JOB_STATES.map((state, index) => [index + 3, state]),
);

export const STATUS_CODES = {
  'successful-ok': 0x0000,
  'successful-ok-ignored-or-substituted-attributes': 0x0001,
  'successful-ok-conflicting-attributes': 0x0002,
  'client-error-bad-request': 0x0400,
  'client-error-forbidden': 0x0401,
  'client-error-not-authenticated': 0x0402,
  'client-error-not-authorized': 0x0403,
  'client-error-not-possible': 0x0404,
  'client-error-timeout': 0x0405,
  'client-error-not-found': 0x0406,
  'client-error-gone': 0x0407,
  'client-error-request-entity-too-large': 0x0408,
  'client-error-request-value-too-long': 0x0409,
  'client-error-document-format-not-supported': 0x040a,
  'client-error-attributes-or-values-not-supported': 0x040b,
  'client-error-uri-scheme-not-supported': 0x040c,
  'client-error-charset-not-supported': 0x040d,
  'client-error-conflicting-attributes': 0x040e,
  'client-error-compression-not-supported': 0x040f,
  'client-error-compression-error': 0x0410,
  'client-error-document-format-error': 0x0411,
  'client-error-document-access-error': 0x0412,
  'client-error-attributes-not-settable': 0x0413,
  'client-error-document-password-error': 0x0418,
  'client-error-document-permission-error': 0x0419,
  'client-error-document-security-error': 0x041a,
  'client-error-document-unprintable-error': 0x041b,
  'client-error-account-info-needed': 0x041c,
  'client-error-account-closed': 0x041d,
  'client-error-account-limit-reached': 0x041e,
  'client-error-account-authorization-failed': 0x041f,
  'server-error-internal-error': 0x0500,
  'server-error-operation-not-supported': 0x0501,
  'server-error-service-unavailable': 0x0502,
  'server-error-version-not-supported': 0x0503,
  'server-error-device-error': 0x0504,
  'server-error-temporary-error': 0x0505,
  'server-error-not-accepting-jobs': 0x0506,
  'server-error-busy': 0x0507,
  'server-error-job-canceled': 0x0508,
  'server-error-multiple-document-jobs-not-supported': 0x0509,
  'server-error-printer-is-deactivated': 0x050a,
  'server-error-too-many-jobs': 0x050b,
  'server-error-too-many-documents': 0x050c,
} as const;
export type StatusName = keyof typeof STATUS_CODES;
const STATUS_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(STATUS_CODES).map(([name, code]) => [code, name]),
);

/** The name of a status code: `successful-ok`, `server-error-busy`, `0x0599`. */
export function statusName(code: number): string {
  return STATUS_NAMES.get(code) ?? `0x${code.toString(16).padStart(4, '0')}`;
}

/** True for the successful status codes (RFC 8011 §B.1.2: 0x0000 to 0x00FF). */
export function isSuccessful(code: number): boolean {
  return code <= 0xff;
}
