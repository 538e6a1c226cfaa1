/**
 * Limits that service and agent share. A deployment may change `bodyBytes`, `records` and `labels`; the other
 * values are fixed. An error that comes from a limit names it.
 */
export const LIMITS = {
  /** Largest request body, bytes. */
  bodyBytes: 5 * 1024 * 1024,
  /** Most records in one job. */
  records: 10_000,
  /** Most labels (records × copies) in one job. */
  labels: 100_000,
  /** Longest value of one field, characters (UTF-16 code units). */
  valueLength: 32_768,
  /** Longest text of an element with its values, and longest raw label with its values, characters. */
  filledText: 65_536,
  filledSource: 8 * 1024 * 1024,
  /** Most fields in one record. */
  fieldsPerRecord: 500,
  /** Most elements on one template. */
  elements: 1_000,
  /** Most named images in one template. */
  images: 100,
  /** Most font faces in one template, and the bytes of one and of all of them: each queued job carries them. */
  fonts: 8,
  fontBytes: 384 * 1024,
  allFontBytes: 768 * 1024,
  /** Longest raw template source or embedded image (base64), characters. */
  templateSource: 2 * 1024 * 1024,
  /** Most labels on one sheet. */
  labelsPerSheet: 1_000,
  /** Longest side of a label, and of a sheet of labels, mm. */
  labelSide: 2_000,
} as const;

/** h in which a request with the same Idempotency-Key is the same request. */
export const KEY_HOURS = 24;
