/** The keys of agents at other sites: Ed25519 (RFC 8032). The service keeps the public half. */
import { createPublicKey, verify } from 'node:crypto';

/** @param publicKey as RFC 8037 has it, in base64url. False: another key has signed, or this is no key */
export function isSignedBy(publicKey: string, text: Buffer, signature: string): boolean {
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' });
    return verify(null, text, key, Buffer.from(signature, 'base64url'));
  } catch {
    return false;
  }
}
