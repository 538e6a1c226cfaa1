/**
 * The manifest of an update: a file beside the archive with its version, what it is for, and its hash.
 * Whoever makes the packages signs it (Ed25519, RFC 8032); no archive is unpacked before its hash is right.
 */
import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { z } from 'zod';
import { UpdateError } from './update-error.ts';

/** The signed text begins with this, so that a signature of the key over something else is not valid here. */
const CONTEXT = 'platen update manifest 1\n';
/** Largest archive, packed or unpacked, bytes: more than there will ever be. */
const MOST = 2 * 1024 ** 3;

export const versionText = z
  .string()
  .max(50)
  .regex(/^\d{1,6}\.\d{1,6}\.\d{1,6}(-[0-9A-Za-z.]{1,30})?$/, { error: 'expected a version like 1.2.3' });

const manifest = z.object({
  format: z.literal(1),
  /** The name of the package: `platen`, or `platen-agent`. */
  name: z.string().max(100),
  version: versionText,
  /** `linux-x64` */
  platform: z.string().max(50),
  /** The name of the archive, which lies beside the manifest. */
  archive: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,150}\.tar\.gz$/),
  size: z.int().min(1).max(MOST),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Bytes and entries of the unpacked archive. */
  unpacked: z.int().min(1).max(MOST),
  entries: z.int().min(1).max(100_000),
});
export type Manifest = z.infer<typeof manifest>;

/** The manifest is the text that was signed, so that it need not be written the same way a second time. */
const envelope = z.object({ manifest: z.string().max(10_000), signature: z.string().max(200) });
export const LONGEST_ENVELOPE = 20_000;

/** The file beside the archive. @param key the maintainer's private key, Ed25519 */
export function signedManifest(content: Manifest, key: KeyObject): string {
  const text = JSON.stringify(manifest.parse(content), null, 2);
  const signature = sign(null, Buffer.from(CONTEXT + text), key).toString('base64');
  return `${JSON.stringify({ manifest: text, signature }, null, 2)}\n`;
}

/** @throws UpdateError `not-signed` where the key has not signed it, `unreadable` */
export function readManifest(text: string, key: KeyObject): Manifest {
  const { manifest: signed, signature } = parsed(envelope, text);
  if (!verify(null, Buffer.from(CONTEXT + signed), key, Buffer.from(signature, 'base64'))) {
    throw new UpdateError(
      'not-signed',
      'the key of this installation has not signed it: nothing is installed',
    );
  }
  return parsed(manifest, signed);
}

function parsed<S extends z.ZodType>(schema: S, text: string): z.output<S> {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : 'no JSON';
    throw new UpdateError('unreadable', `that is no update of Platen: ${why}`);
  }
}

/** @throws UpdateError `no-key` for anything but an Ed25519 public key */
export function publicKeyFrom(pem: string): KeyObject {
  try {
    const key = createPublicKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // Reported below.
  }
  throw new UpdateError('no-key', 'expected an Ed25519 public key in PEM');
}
