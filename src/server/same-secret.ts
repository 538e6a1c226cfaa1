/** Compares what a caller says with a secret in constant time. */
import { createHash, timingSafeEqual } from 'node:crypto';

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

export function sameSecret(secret: string): (said: string) => boolean {
  const expected = digest(secret);
  // Equal digests have equal lengths, which is all that the comparison could give away.
  return (said) => timingSafeEqual(digest(said), expected);
}
