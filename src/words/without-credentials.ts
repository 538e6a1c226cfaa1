/** Credentials inside a connection string: `redis://user:password@host`. They end at the last `@` before the path. */
const URL_CREDENTIALS = /(?<![a-z0-9+.-])([a-z0-9+.-]+:\/\/)[^\s/?#]+@/gi;

/** A text in which no connection string carries its credentials. */
export function withoutCredentials(text: string): string {
  return text.replace(URL_CREDENTIALS, '$1[redacted]@');
}
