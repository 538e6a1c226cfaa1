/** The errors by which node-postgres says that a PostgreSQL cannot be reached, starts, stops, or was lost. */
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
  // 57P01 the server stops, 57P02 crashed, 57P03 starts; 53300 too many connections; 25006 became a standby.
  '57P01',
  '57P02',
  '57P03',
  '53300',
  '25006',
]);
// node-postgres gives these no code.
const AWAY_MESSAGES =
  /Connection terminated|connection timeout|timeout e(xceeded|xpired)|Query read timeout|not queryable/i;

/** The server is away or not ready yet: trying again may help, and the server has not refused the command. */
export function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return AWAY_CODES.has(code) || code.startsWith('08') || AWAY_MESSAGES.test(error.message);
}
