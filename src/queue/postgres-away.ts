/** What node-postgres says of a PostgreSQL that cannot be reached, starts, stops, or was lost. */
const AWAY_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  // The server stops, crashed, starts, is full, or became a standby.
  '57P01',
  '57P02',
  '57P03',
  '53300',
  '25006',
]);
// node-postgres gives these no code.
const AWAY_MESSAGES =
  /Connection terminated|connection timeout|timeout e(xceeded|xpired)|Query read timeout|not queryable/i;

/** The server is not there, or not yet: trying again may help, and what it was asked has not been refused. */
export function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return AWAY_CODES.has(code) || code.startsWith('08') || AWAY_MESSAGES.test(error.message);
}
