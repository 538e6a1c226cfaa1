/** Words for a printer's state, and the paths of its actions. */
import { z } from 'zod';
import { type PrinterDetails, printerDetails } from '../../src/contract/printer-actions.ts';
import { stateOf } from '../controls/still-words.ts';
import { may } from '../service/session.ts';
import { listed, t, when } from '../texts/texts.ts';

export const printer = printerDetails;
export const printerList = z.array(printer);
export type Printer = PrinterDetails;

/** The names of the groups into which people have put printers. */
export function groupsOf(printers: readonly Printer[]): string[] {
  const names = new Set(printers.map(({ group = '' }) => group).filter((name) => name !== ''));
  return [...names].sort((a, b) => a.localeCompare(b));
}

/** The printer's name with its place, for where a printer is chosen. */
export function nameAndPlace({ name, place = '' }: Printer): string {
  return place === '' ? name : `${name} (${place})`;
}

/** Amber: it waits for somebody, and goes on by itself once that is mended. Red: it went wrong, and does not go on by itself. */
const TONE: Readonly<Record<Printer['status'], string>> = {
  idle: 'good',
  processing: 'busy',
  stopped: 'warn',
  unknown: '',
  offline: 'warn',
};

export function PrinterState({ printer }: { printer: Printer }) {
  const { printers: words, reason } = t.value;
  const { reasons, held, since, gone } = printer;
  const status = stateOf(printer);
  // A reason with the same name as the status, such as `offline`, would be said twice.
  const why = reasons.filter((one) => one !== status).map((one) => reason[one]);
  return (
    <div class="stack hair">
      <div class="row">
        <span class={`badge ${gone ? '' : TONE[status]}`}>{gone ? words.gone : words[status]}</span>
        {held !== null && <span class="badge warn">{words.held}</span>}
      </div>
      {(why.length > 0 || since !== null) && (
        <div class="small muted">
          {[listed(why), since === null ? '' : words.since(when(since))]
            .filter((part) => part !== '')
            .join(', ')}
        </div>
      )}
      {held !== null && (
        <div class="small muted anywhere">
          {words.heldBy(held.by, when(held.at))}
          {held.why !== null && `: ${held.why}`}
        </div>
      )}
    </div>
  );
}

/** Acting on a shared printer, whose `tenant` is null, also needs the permission `deployment`. */
export function mayActOn(printer: Printer): boolean {
  const { tenant } = printer;
  return may('printers:act') && (tenant !== null || may('deployment'));
}

/** Path of an action on a printer. `scope` tells a shared printer from a tenant's own one with the same ID. */
export function actionPath({ id, tenant }: Printer, action?: string): string {
  const path = `/printers/${encodeURIComponent(id)}${action === undefined ? '' : `/${action}`}`;
  return `${path}?scope=${encodeURIComponent(tenant ?? 'shared')}`;
}
