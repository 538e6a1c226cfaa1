/** Reads a ZPL program as a new printer would, with nothing stored and nothing set. */

import { defaultSyntax, type ZplCommand, type ZplEvent, ZplStream } from '../stream.ts';
import { download } from './download.ts';
import { type LabelPlan, type MediaDots, planLabel } from './label-plan.ts';
import { type LastingSetting, PrinterMemory } from './printer-memory.ts';

/** The most that a program may store in the simulated printer, and the longest format, bytes. */
const MEMORY = 16 * 1024 * 1024;

export interface PlannedLabel {
  /** The plan of the last format that prints; undefined: none does. */
  readonly plan: LabelPlan | undefined;
  /** The commands of that format, without `^XA` and `^XZ`. */
  readonly commands: readonly ZplCommand[];
  /** The settings in force at the end, measured in dots. */
  readonly settings: ReadonlyMap<LastingSetting, string>;
  /** Why a format or a download was not taken. */
  readonly faults: readonly string[];
}

export function plannedLabel(zpl: string, media: MediaDots): PlannedLabel {
  const memory = new PrinterMemory(MEMORY);
  const faults: string[] = [];
  let plan: LabelPlan | undefined;
  let commands: readonly ZplCommand[] = [];
  const take = (event: ZplEvent): void => {
    if (event.kind === 'format') {
      const planned = planLabel(event.format, memory, media);
      if (planned === undefined) return;
      plan = planned;
      commands = event.format.commands;
    } else if (event.kind === 'discarded') faults.push('it is too long');
    else if (event.kind === 'control') {
      const refused = download(event.name, event.params, memory);
      if (refused !== undefined) faults.push(refused);
    }
  };
  const stream = new ZplStream(defaultSyntax(), MEMORY, take);
  stream.push(Buffer.from(zpl, 'utf8'));
  return { plan, commands, settings: memory.settings, faults };
}
