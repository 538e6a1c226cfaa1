/** The fingerprint by which a retry is told from another request: the same JSON, whatever its spacing and key order. */
import { createHash } from 'node:crypto';

/** SHA-256 of the value with the keys of every object sorted. */
export function fingerprint(value: unknown): Buffer {
  return createHash('sha256').update(JSON.stringify(value, sorted)).digest();
}

function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  // An object's own order puts keys that look like integers first, always; that is an order too. Null prototype:
  // a key `__proto__` is a key like any other.
  const copy: Record<string, unknown> = Object.create(null);
  for (const [key, inner] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) copy[key] = inner;
  return copy;
}
