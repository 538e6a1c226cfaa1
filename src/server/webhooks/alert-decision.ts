/** Which messages people get: one when something has lasted long enough, and one when all that it told of is over. */
import type { Alert, AlertItem, QuietHours } from '../../contract/alert.ts';

export type Receiver = {
  id: string;
  tenant: string;
  alerts: readonly string[];
  minutes: number;
  quiet: QuietHours | null;
  createdAt: Date;
};
/** What a tenant's receivers could be told of now. */
type Condition = { tenant: string; item: AlertItem };
/** What a receiver was told of and what is not over yet. */
export type Told = { receiver: string; item: AlertItem; message: string; over: boolean };

type AlertDecision = {
  begun: { receiver: string; items: AlertItem[] }[];
  /** All of the items of a message are over. */
  ended: { receiver: string; message: string; items: AlertItem[] }[];
  /** An item is over, but not all of its message. */
  over: { receiver: string; kind: Alert; subject: string }[];
};

const MINUTE = 60_000;
/** ms: what follows within this time is told with what was first. A hundred printers that lose one switch are one message. */
const TOGETHER = MINUTE;
/** ms. An agent that had been away for longer than this when the receiver was made is not told of: it is gone for good. */
const NEWS = 24 * 60 * MINUTE;

/** @param now the database's time */
export function decide(
  receivers: readonly Receiver[],
  conditions: readonly Condition[],
  told: readonly Told[],
  now: Date,
): AlertDecision {
  const decision: AlertDecision = { begun: [], ended: [], over: [] };
  const byTenant = Map.groupBy(conditions, ({ tenant }) => tenant);
  const byReceiver = Map.groupBy(told, ({ receiver }) => receiver);
  for (const receiver of receivers) {
    if (isQuiet(receiver.quiet, now)) continue;
    const lasts = receiver.minutes * MINUTE;
    const age = ({ since }: AlertItem) => now.getTime() - Date.parse(since);
    const items = (byTenant.get(receiver.tenant) ?? [])
      .map(({ item }) => item)
      .filter(({ kind, since }) => {
        if (!receiver.alerts.includes(kind)) return false;
        return kind !== 'alert.agent' || Date.parse(since) > receiver.createdAt.getTime() - NEWS;
      });
    // A condition goes on as soon as it has lasted for half of the minutes. So one that comes and goes around the limit is one alert.
    const goesOn = new Set(items.filter((item) => age(item) >= lasts / 2).map(keyOf));
    const known = byReceiver.get(receiver.id) ?? [];
    const open = new Set(known.filter((one) => !one.over && goesOn.has(keyOf(one.item))).map(keyOfTold));

    const fresh = items.filter((item) => !open.has(keyOf(item)) && age(item) >= lasts - TOGETHER);
    const isDue = fresh.some((item) => age(item) >= lasts);
    if (isDue) decision.begun.push({ receiver: receiver.id, items: fresh });
    // What is told anew belongs to the new message.
    const moved = new Set(isDue ? fresh.map(keyOf) : []);
    const left = known.filter((one) => !moved.has(keyOfTold(one)));
    for (const [message, all] of Map.groupBy(left, (one) => one.message)) {
      if (all.every((one) => !open.has(keyOfTold(one)))) {
        decision.ended.push({ receiver: receiver.id, message, items: all.map(({ item }) => item) });
        continue;
      }
      for (const { item, over } of all) {
        if (over || open.has(keyOf(item))) continue;
        decision.over.push({ receiver: receiver.id, kind: item.kind, subject: item.subject });
      }
    }
  }
  return decision;
}

function keyOf({ kind, subject }: AlertItem): string {
  return `${kind} ${subject}`;
}

function keyOfTold({ item }: Told): string {
  return keyOf(item);
}

/** Whether a moment is in the quiet hours, by the clocks of their zone. */
export function isQuiet(quiet: QuietHours | null, now: Date): boolean {
  if (quiet === null) return false;
  const { from, until, zone } = quiet;
  const clock = new Intl.DateTimeFormat('en-GB', {
    ...{ timeZone: zone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  }).format(now);
  return from <= until ? clock >= from && clock < until : clock >= from || clock < until;
}
