/** Whether a job leaves the printer set as it is for the labels of the job ahead, which may still wait in it. */
import { printerSettings } from '../../contract/format.ts';
import type { QueuedJob } from '../../contract/queued-job.ts';

const SETTINGS = Object.keys(printerSettings);

/**
 * Darkness (~SD), cutter or speed are set for all labels that are not out yet, whoever sent them. What a raw template may
 * set at the printer nobody knows, nor what it leaves behind.
 */
export function keepsSetUp(ahead: QueuedJob, behind: QueuedJob): boolean {
  if ([ahead, behind].some(setsWhatItLikes)) return false;
  const [set, sets] = [ahead, behind].map(({ format }) => new Map<string, unknown>(Object.entries(format)));
  return SETTINGS.every((name) => sets?.get(name) === undefined || sets.get(name) === set?.get(name));
}

function setsWhatItLikes({ printerCommands, template }: QueuedJob): boolean {
  return printerCommands === true && template.language === 'zpl';
}
