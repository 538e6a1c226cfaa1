/** What a device's status means for a job that wants to print. */
import type { DeviceStatus } from '../../../drivers/device.ts';
import type { PrinterReason } from '../../contract/printer.ts';

/** Reasons for which nothing comes out until a person has done something. */
const STOPPING = new Set<PrinterReason>([
  'offline',
  'media-empty',
  'media-jam',
  'marker-supply-empty',
  'cover-open',
  'paused',
  'output-area-full',
]);

/** The printer will not print now: nothing more is sent to it. */
export function isBlocked(status: DeviceStatus): boolean {
  return status.state === 'stopped' || status.reasons.some((reason) => STOPPING.has(reason));
}

/** As far as the printer says, no label of anybody is under way in it, and nothing keeps it from printing. */
export function isIdle(status: DeviceStatus): boolean {
  return status.state !== 'processing' && (status.labelsPending ?? 0) === 0 && !isBlocked(status);
}

/** The printer counts something as pending only because it has not finished. This need not be a label. */
export function isNotDone({ reasons }: DeviceStatus): boolean {
  return reasons.some((reason) => reason === 'label-waiting' || reason === 'spool-area-full');
}

/** The printer can say what became of labels. */
export function canConfirm(status: DeviceStatus): boolean {
  return status.odometer !== null || status.labelsPending !== null;
}

/**
 * Why a printer that is not idle keeps a job waiting, in words for a person.
 * @param others what the printer prints is not this job's
 */
export function whyItWaits(
  { reasons, unfinished, labelsPending }: DeviceStatus,
  others: boolean,
): PrinterReason[] {
  if (unfinished) return [...reasons, 'label-unfinished'];
  return others && labelsPending !== 0 && reasons.length === 0 ? ['busy'] : reasons;
}
