/** How long an end may take: for what is in hand to be done, and after it was told to stop, ms. */
export interface StopOptions {
  timeoutMs?: number;
  graceMs?: number;
}
