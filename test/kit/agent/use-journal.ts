/** A journal for the tests of a file, removed after them. */
import { afterAll } from 'vitest';
import { openDataDir } from '../../../src/agent/data-dir.ts';
import { Journal } from '../../../src/agent/journal.ts';
import { Directories } from './site.ts';

export function useJournal(): Journal {
  const directories = new Directories();
  const { db, close } = openDataDir(directories.make());
  db.exec('PRAGMA synchronous = OFF');
  afterAll(() => {
    close();
    directories.remove();
  });
  return new Journal(db);
}
