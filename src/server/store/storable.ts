/** What PostgreSQL can hold of what somebody else has said. */
import { sqlState } from './pool.ts';

/** SQLSTATE class of values that the database can never hold. */
const DATA_EXCEPTION = '22';
/** The JSON escapes of what PostgreSQL takes in no text: NUL, and half of a surrogate pair. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/;

/** JSON without these characters, so that nothing is lost because of one character of a device's name. */
export function storable(value: unknown): string {
  const json = JSON.stringify(value);
  if (!UNSTORABLE.test(json)) return json;
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'string' ? inner.toWellFormed().replaceAll('\0', '\ufffd') : inner,
  );
}

/** Whether the statement can never succeed: what it is to store must be left out, not tried for ever. */
export function isUnstorable(error: unknown): boolean {
  return sqlState(error)?.startsWith(DATA_EXCEPTION) === true;
}
