/** The settings for a label's place, which every label printer has. The ranges are from the ZPL II Programming Guide. */
import type { SettingLimits } from '../../src/contract/print-settings.ts';

export const PLACING = {
  // Dots: ^LT, ^LS.
  labelTop: { from: -120, to: 120, step: 1 },
  labelShift: { from: -9999, to: 9999, step: 1 },
  mediaTracking: ['continuous', 'gap', 'mark'],
} satisfies SettingLimits;
