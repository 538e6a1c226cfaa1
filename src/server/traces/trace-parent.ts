/** The header `traceparent` (W3C Trace Context §3.2). */
import { randomBytes } from 'node:crypto';

/** IDs in hex; `parent` null: the trace begins here. */
export type TraceContext = { trace: string; span: string; parent: string | null };

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/;
const LONGEST = 512;
const SAMPLED = 1;

/**
 * Where a request stands in its caller's trace; in one of its own if the header is missing or is none.
 * @returns undefined: the caller asks that this one is not recorded
 */
export function placeOf(header: unknown): TraceContext | undefined {
  const span = randomBytes(8).toString('hex');
  const given = typeof header === 'string' && header.length <= LONGEST ? read(header) : undefined;
  if (given === undefined) return { trace: randomBytes(16).toString('hex'), span, parent: null };
  const { flags, ...place } = given;
  return (flags & SAMPLED) === 0 ? undefined : { ...place, span };
}

/** What a later version has behind the flags is not read. */
function read(header: string): { trace: string; parent: string; flags: number } | undefined {
  const [found, version, trace, parent, flags] = FORM.exec(header) ?? [];
  if (trace === undefined || parent === undefined || flags === undefined) return undefined;
  if (version === 'ff' || (version === '00' && found !== header)) return undefined;
  if (/^0+$/.test(trace) || /^0+$/.test(parent)) return undefined;
  return { trace, parent, flags: Number.parseInt(flags, 16) };
}
