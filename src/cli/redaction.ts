/** Masks secrets in what is shown or given away: by members' names, and wherever else their values stand. */
import { withoutCredentials } from '../words/without-credentials.ts';

const SECRET = /password|secret|token$|community|key$/i;
/** Shorter secrets are not masked: they would match ordinary words. */
const SHORTEST = 6;
const MASK = '[redacted]';

/** For `JSON.stringify`: masks members with the name of a secret, and credentials in addresses. */
export function withoutSecrets(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return SECRET.test(name) ? MASK : withoutCredentials(value);
}

/** Secrets that a text may hold anywhere. */
export class Secrets {
  readonly #values = new Set<string>();

  /** Adds a secret as it is, and as it is written in an address or in JSON. */
  add(secret: string | undefined): void {
    if (secret === undefined || secret.length < SHORTEST) return;
    for (const form of [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]) {
      this.#values.add(form);
    }
  }

  /** Adds the password in an address, or the user where there is no password. */
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

  /** Adds whatever is secret in a configuration, by its name or as part of an address. */
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

  /** The text with the secrets masked. */
  takenOut(text: string): string {
    // The longest first: one may be part of another.
    const values = [...this.#values].sort((a, b) => b.length - a.length);
    return values.reduce((left, secret) => left.replaceAll(secret, MASK), withoutCredentials(text));
  }
}
