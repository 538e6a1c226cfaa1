/** The bell of a process whose lanes are in PostgreSQL: one channel for all lanes and for reports. */
import type { Lane } from '../../contract/lane.ts';
import { Bell } from '../bell.ts';
import { ringOf } from '../lease.ts';
import type { NotificationConnection } from './notification-connection.ts';

/** Rung with the name of the lane that has a job to take, or with `REPORTS` (`schema/0001-lanes.sql`). */
export const CHANNEL = 'platen_lanes';
export const REPORTS = '@reports';

/** What is rung for a mark of a lane. The lane stands behind the colon; no lane's name has one. */
export function markedRing(of: Lane, mark: string): string {
  return `${ringOf(mark)}:${of}`;
}

export class PostgresBell extends Bell {
  readonly #notifications: NotificationConnection;
  #silence: (() => void) | undefined;

  constructor(notifications: NotificationConnection) {
    super();
    this.#notifications = notifications;
  }

  /** The channel is heard from the first listener on. */
  protected override begin(): void {
    this.#silence ??= this.#notifications.listen(CHANNEL, {
      heard: (payload) => {
        const [name = '', what = ''] = payload.split(':', 2).toReversed();
        this.ring(name, what);
      },
      ready: () => this.ringAll(),
    });
  }

  /** The channel is kept, since all lanes share it. */
  protected override end(): void {}
}
