/**
 * The deployment's own key, which encrypts secrets in the database. It is kept elsewhere (`PLATEN_KEY`, or a
 * file in the data directory): whoever reads the database, or a copy of it, cannot read these secrets.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

export class SecretKey {
  /** Tells keys apart without revealing them. */
  readonly fingerprint: string;
  readonly #key: Buffer;
  readonly #signing: Buffer;

  /** @param secret any text of which 32 characters or more cannot be guessed */
  constructor(secret: string) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', 'platen: sealing', 32));
    this.#signing = Buffer.from(hkdfSync('sha256', secret, '', 'platen: signing', 32));
    this.fingerprint = Buffer.from(hkdfSync('sha256', secret, '', 'platen: fingerprint', 12)).toString('hex');
  }

  /** Of a text that leaves the service and comes back: nobody else can make this. */
  sign(text: string): string {
    return createHmac('sha256', this.#signing).update(text).digest('base64url');
  }

  isSigned(text: string, signature: string): boolean {
    const [theirs, ours] = [Buffer.from(signature), Buffer.from(this.sign(text))];
    return theirs.length === ours.length && timingSafeEqual(theirs, ours);
  }

  /** @param name what the secret belongs to: a sealed text opens only under the same name */
  seal(text: string, name: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#key, iv).setAAD(Buffer.from(name));
    const sealed = [iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
    return Buffer.concat(sealed).toString('base64url');
  }

  /** @throws Error for a text that was sealed with another key or under another name, or was changed since */
  open(sealed: string, name: string): string {
    const bytes = Buffer.from(sealed, 'base64url');
    const decipher = createDecipheriv(ALGORITHM, this.#key, bytes.subarray(0, IV_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(-TAG_BYTES));
    const text = [decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()];
    return Buffer.concat(text).toString('utf8');
  }
}
