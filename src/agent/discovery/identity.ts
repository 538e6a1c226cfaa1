/**
 * A printer's ID from what the device says of itself, or, when it says nothing, from where it is.
 *
 * `<evidence>-<hash>`: the prefix says how far the ID can be trusted; the hash makes a queue name of any serial
 * number. A person finds a printer by its name.
 */
import { createHash } from 'node:crypto';
import { type IdentityEvidence, identityEvidence } from '../../contract/printer.ts';

/** The same evidence in any spelling of case and surrounding space gives the same ID. */
export function printerIdOf(identity: { evidence: IdentityEvidence; value: string }): string {
  const value = identity.value.trim().toUpperCase();
  const hash = createHash('sha256').update(`${identity.evidence}\n${value}`).digest('hex');
  return `${identity.evidence}-${hash.slice(0, 24)}`;
}

/** What an ID says it was made from; `address` for one that says nothing. */
export function evidenceOf(id: string): IdentityEvidence {
  return identityEvidence.options.find((kind) => id.startsWith(`${kind}-`)) ?? 'address';
}

/** The URI without credentials, query and fragment: what is shown, and what an ID by address is made from. */
export function addressOf(uri: string): string {
  const url = new URL(uri);
  url.username = '';
  url.password = '';
  url.search = '';
  url.hash = '';
  return url.href;
}
