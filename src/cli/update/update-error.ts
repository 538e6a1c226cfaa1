import { defineFaults } from '../../contract/define-faults.ts';

/** Why a machine is not brought to another version; it works as before in every case. */
export class UpdateError extends defineFaults('UpdateError', {
  /** A checkout, or an installation that apt or Windows updates. */
  'not-here': {},
  'not-allowed': {},
  /** Of the disk. */
  'no-room': { retrySafe: true },
  'no-key': {},
  unreadable: {},
  'not-signed': {},
  /** For another platform, or another package. */
  'not-for-us': {},
  'older-version': {},
  /** This version failed to start here before. */
  'tried-before': {},
  'archive-wrong': {},
  /** An entry of the archive would not stay in its directory. */
  'archive-unsafe': {},
  'not-reached': { retrySafe: true },
  'already-running': { retrySafe: true },
  /** The new version says that it cannot work here. */
  'check-failed': {},
  'did-not-come-up': {},
}) {}
