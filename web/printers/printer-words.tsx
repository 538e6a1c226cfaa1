/** Words for a printer's state, and the paths of its actions. */
import { z } from 'zod';
import { type PrinterDetails, printerDetails } from '../../src/contract/printer-actions.ts';
import { stateOf } from '../controls/still-words.ts';
import { may } from '../service/session.ts';
import { listed, t, when } from '../texts/texts.ts';

export const printer = printerDetails;
export const printerList = z.array(printer);
export type Printer = PrinterDetails;

/** The groups that people have put printers into. */
export function groupsOf(printers: readonly Printer[]): string[] {
  const names = new Set(printers.map(({ group = '' }) => group).filter((name) => name !== ''));
  return [...names].sort((a, b) => a.localeCompare(b));
}

/** What stands beside a printer's name where one is chosen. */
export function nameAndPlace({ name, place = '' }: Printer): string {
  return place === '' ? name : `${name} (${place})`;
}

/** Amber waits for somebody and goes on once that is mended; red went wrong, and does not go on by itself. */
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
  // A reason that equals the status, such as `offline`, is not said twice.
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

/** A printer that tenants share (`tenant` is null) also needs the permission `deployment`. */
export function mayActOn(printer: Printer): boolean {
  const { tenant } = printer;
  return may('printers:act') && (tenant !== null || may('deployment'));
}

/** Path of an action on a printer. `scope` tells apart a shared and a tenant's own printer of the same ID. */
export function actionPath({ id, tenant }: Printer, action?: string): string {
  const path = `/printers/${encodeURIComponent(id)}${action === undefined ? '' : `/${action}`}`;
  return `${path}?scope=${encodeURIComponent(tenant ?? 'shared')}`;
}
