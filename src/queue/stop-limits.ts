/** Limits of a stop, ms: `timeoutMs` for work in hand to finish, `graceMs` for work that was told to stop. */
export interface StopLimits {
  timeoutMs?: number;
  graceMs?: number;
}
