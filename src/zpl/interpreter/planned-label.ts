/** Reads a ZPL program as a new printer would, with nothing stored and nothing set. */

import { defaultSyntax, type ZplCommand, type ZplEvent, ZplStream } from '../stream.ts';
import { download } from './download.ts';
import { type LabelPlan, type MediaDots, planLabel } from './label-plan.ts';
import { type LastingSetting, PrinterMemory } from './printer-memory.ts';

/** The most bytes that a program may store in the simulated printer, and the most bytes of a format. */
const MEMORY = 16 * 1024 * 1024;
/** How many bytes are read at once, so at most that many ahead of the current format. */
const AHEAD = 4096;

export interface PlannedLabel {
  /** The plan of the last format that prints. Undefined: no format prints. */
  readonly plan: LabelPlan | undefined;
  /** The commands of that format, without `^XA` and `^XZ`. */
  readonly commands: readonly ZplCommand[];
  /** The settings in force at the end, with measures in dots. */
  readonly settings: ReadonlyMap<LastingSetting, string>;
  /** Why a format or a download was not taken. */
  readonly faults: readonly string[];
}

type Planned = Pick<PlannedLabel, 'commands'> & { readonly plan: LabelPlan };

export function plannedLabel(zpl: string | Uint8Array, media: MediaDots): PlannedLabel {
  const memory = new PrinterMemory(MEMORY);
  const faults: string[] = [];
  let last: Partial<Planned> = {};
  const bytes = typeof zpl === 'string' ? Buffer.from(zpl, 'utf8') : zpl;
  for (const planned of plannedFormats(bytes, media, memory)) {
    if (typeof planned === 'string') faults.push(planned);
    else last = planned;
  }
  const { plan, commands = [] } = last;
  return { plan, commands, settings: memory.settings, faults };
}

/**
 * Plans the formats of a program that print, each only when somebody asks for the next. Between them it yields why a format or
 * a download was not taken. No plan is kept, because the plan for a few bytes may take megabytes.
 */
export function* plannedFormats(
  zpl: Uint8Array,
  media: MediaDots,
  memory = new PrinterMemory(MEMORY),
): Generator<Planned | string, void, void> {
  const events: ZplEvent[] = [];
  const stream = new ZplStream(defaultSyntax(), MEMORY, (event) => events.push(event));
  for (let at = 0; at < zpl.length; at += AHEAD) {
    stream.push(zpl.subarray(at, at + AHEAD));
    for (const event of events.splice(0)) {
      if (event.kind === 'discarded') yield 'it is too long';
      if (event.kind === 'control') {
        const refused = download(event.name, event.params, memory);
        if (refused !== undefined) yield refused;
      }
      if (event.kind !== 'format') continue;
      const plan = planLabel(event.format, memory, media);
      if (plan !== undefined) yield { plan, commands: event.format.commands };
    }
  }
}
