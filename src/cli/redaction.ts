/** What is shown or given away of a machine, without its secrets: by the names that they stand under, and wherever else their values stand. */
import { withoutCredentials } from '../contract/without-credentials.ts';

const SECRET = /password|secret|token$|community|key$/i;
/** A shorter one would take ordinary words with it. */
const SHORTEST = 6;
const MASK = '[redacted]';

/** For `JSON.stringify`: members with the name of a secret, and what is in addresses. */
export function withoutSecrets(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return SECRET.test(name) ? MASK : withoutCredentials(value);
}

/** Secrets that a text may hold anywhere. */
export class Secrets {
  readonly #values = new Set<string>();

  /** A secret as it is, and as it stands in an address or in JSON. */
  add(secret: string | undefined): void {
    if (secret === undefined || secret.length < SHORTEST) return;
    for (const form of [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]) {
      this.#values.add(form);
    }
  }

  /** The user and the password in an address. */
  addFromAddress(address: string): void {
    const { username = '', password = '' } = URL.parse(address) ?? {};
    for (const part of [password, password === '' ? username : '']) {
      this.add(part);
      try {
        this.add(decodeURIComponent(part));
      } catch {
        // Not encoded at all.
      }
    }
  }

  /** Whatever is secret in a configuration, by its name or as part of an address. */
  addFrom(value: unknown, name = ''): void {
    if (typeof value === 'string') {
      if (SECRET.test(name)) this.add(value);
      this.addFromAddress(value);
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value)) {
        this.addFrom(member, Array.isArray(value) ? name : key);
      }
    }
  }

  /** The text without them. */
  takenOut(text: string): string {
    // The longest first: one may be part of another.
    const values = [...this.#values].sort((a, b) => b.length - a.length);
    return values.reduce((left, secret) => left.replaceAll(secret, MASK), withoutCredentials(text));
  }
}
