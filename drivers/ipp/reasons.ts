/**
 * Translates printer-state-reasons to `PrinterReason`. Printers add a severity, and use keywords of other registries and of
 * their own. Source: RFC 8011 §5.4.12, PWG 5100.9 §2, CUPS ("offline-report", "com.…").
 */
import type { PrinterReason } from '../../src/contract/printer.ts';

const WORDS: ReadonlyMap<string, PrinterReason> = new Map([
  ['media-empty', 'media-empty'],
  ['media-needed', 'media-empty'],
  ['media-jam', 'media-jam'],
  ['media-low', 'media-low'],
  ['marker-supply-empty', 'marker-supply-empty'],
  ['toner-empty', 'marker-supply-empty'],
  ['cover-open', 'cover-open'],
  ['door-open', 'cover-open'],
  ['interlock-open', 'cover-open'],
  ['paused', 'paused'],
  ['moving-to-paused', 'paused'],
  ['spool-area-full', 'spool-area-full'],
  ['connecting-to-device', 'connecting-to-device'],
  ['output-area-full', 'output-area-full'],
  ['shutdown', 'offline'],
  ['timed-out', 'offline'],
  ['offline', 'offline'],
]);

/**
 * @param stopped whether the printer is stopped: then an unknown keyword becomes `other`. It also does so with the suffix
 *   `-error`. Otherwise it is left out
 */
export function printerReasons(words: readonly string[], stopped: boolean): PrinterReason[] {
  const reasons = words.flatMap((word): PrinterReason[] => {
    const plain = word.toLowerCase().replace(/-(error|warning|report)$/, '');
    const known = WORDS.get(plain);
    if (known !== undefined) return [known];
    const matters = plain !== 'none' && plain !== '' && (stopped || /-error$/i.test(word));
    return matters ? ['other'] : [];
  });
  return [...new Set(reasons)];
}
