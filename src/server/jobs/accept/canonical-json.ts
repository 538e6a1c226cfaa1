/** A fingerprint of JSON that does not depend on spacing or key order: it tells a retry from another request. */
import { createHash, type Hash } from 'node:crypto';
import type { Long } from '../../stretches.ts';

/** SHA-256 of the value with the keys of every object sorted. */
export function* fingerprint(value: unknown): Long<Buffer> {
  const hash = createHash('sha256');
  yield* hashed(hash, value);
  return hash.digest();
}

function* hashed(hash: Hash, value: unknown): Long<void> {
  if (typeof value !== 'object' || value === null) {
    hash.update(JSON.stringify(value));
  } else if (Object.values(value).every((inner) => inner === null || typeof inner !== 'object')) {
    // Most of a body is flat records: each is hashed as one text.
    hash.update(JSON.stringify(sorted(value)));
    yield;
  } else if (Array.isArray(value)) {
    for (const [index, inner] of value.entries()) {
      hash.update(index === 0 ? '[' : ',');
      yield* hashed(hash, inner);
    }
    hash.update(']');
  } else {
    for (const [index, [key, inner]] of Object.entries(sorted(value)).entries()) {
      hash.update(`${index === 0 ? '{' : ','}${JSON.stringify(key)}:`);
      yield* hashed(hash, inner);
    }
    hash.update('}');
  }
}

function sorted(value: object): object {
  if (Array.isArray(value)) return value;
  // An object's own order puts keys that look like integers first, always; that is an order too. Null prototype:
  // a key `__proto__` is a key like any other.
  const copy: Record<string, unknown> = Object.create(null);
  for (const [key, inner] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) copy[key] = inner;
  return copy;
}
