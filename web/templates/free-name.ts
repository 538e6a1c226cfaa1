/** Finds a name that no template has yet. */
import { z } from 'zod';
import { templateView } from '../../src/contract/admin.ts';
import { call } from '../service/call.ts';
import { ofTenant } from '../service/session.ts';

/** The longest name that a template may have, less the room for a number. */
const LONGEST = 190;

/** The service takes a template with a known name for a new version of it, so a new template needs a new name. @throws as `call` */
export async function freeName(wanted: string): Promise<string> {
  const taken = new Set((await call(z.array(templateView), ofTenant('/templates'))).map(({ name }) => name));
  const cut = wanted.slice(0, LONGEST);
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? cut : `${cut} ${number}`;
    if (!taken.has(name)) return name;
  }
}
