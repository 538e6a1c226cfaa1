/** What a check has found, and what a person is to do about it. */

export interface Finding {
  /** What was looked at: `disk`, `printer dock-3-left`. */
  check: string;
  /** `failed`: nothing prints until this is mended. */
  result: 'ok' | 'warning' | 'failed';
  detail: string;
  /** What to do about it; there for every finding that is not in order. */
  advice?: string;
}

export const ok = (check: string, detail: string): Finding => ({ check, result: 'ok', detail });

export const warning = (check: string, detail: string, advice: string): Finding => ({
  check,
  result: 'warning',
  detail,
  advice,
});

export const failed = (check: string, detail: string, advice: string): Finding => ({
  check,
  result: 'failed',
  detail,
  advice,
});
