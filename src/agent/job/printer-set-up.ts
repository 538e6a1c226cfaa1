/** Whether a job keeps the printer's settings for labels of the job ahead that still wait in the printer. */
import { printerSettings } from '../../contract/format.ts';
import type { QueuedJob } from '../../contract/queued-job.ts';

const SETTINGS = Object.keys(printerSettings);

/**
 * Darkness (~SD), cutter and speed are set for all labels that are not out yet, whoever sent them. Nobody
 * knows what a raw template or a ZPL document sets at the printer, nor what it leaves set.
 */
export function keepsSetUp(ahead: QueuedJob, behind: QueuedJob): boolean {
  if ([ahead, behind].some(setsWhatItLikes)) return false;
  const [set, sets] = [ahead, behind].map(({ format }) => new Map<string, unknown>(Object.entries(format)));
  return SETTINGS.every((name) => sets?.get(name) === undefined || sets.get(name) === set?.get(name));
}

function setsWhatItLikes({ printerCommands, template }: QueuedJob): boolean {
  return printerCommands === true && template.language !== 'platen';
}
