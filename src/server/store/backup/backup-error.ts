/** What can go wrong with a back-up, in one table. Messages name files, tables and versions, never what is in a row. */
import { defineFaults } from '../../../contract/define-faults.ts';

export class BackupError extends defineFaults('BackupError', {
  /** The file does not begin as a back-up does. */
  'not-a-backup': {},
  /** It was cut off, or changed since it was written. */
  damaged: {},
  /** A later version wrote it: this one does not know its form, or the schema that it is of. */
  newer: {},
  /** There is a file of the name that the back-up would get. */
  exists: {},
  /** There is a database already where the back-up would go. */
  'holds-data': {},
}) {}
