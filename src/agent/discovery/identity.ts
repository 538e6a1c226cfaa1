/**
 * Makes a printer's ID: from what the device says of itself or, if it says nothing, from its address.
 *
 * An ID is `<evidence>-<hash>`. The prefix says how far the ID can be trusted. The hash makes text that can name a queue of any
 * serial number. People do not need to read an ID: they know a printer by its name.
 */
import { createHash } from 'node:crypto';
import { type IdentityEvidence, identityEvidence } from '../../contract/printer.ts';

/** The same evidence in any spelling of case and surrounding space gives the same ID. */
export function printerIdOf(identity: { evidence: IdentityEvidence; value: string }): string {
  const value = identity.value.trim().toUpperCase();
  const hash = createHash('sha256').update(`${identity.evidence}\n${value}`).digest('hex');
  return `${identity.evidence}-${hash.slice(0, 24)}`;
}

/** The kind of evidence that an ID names in its prefix; `address` for an ID without such a prefix. */
export function evidenceOf(id: string): IdentityEvidence {
  return identityEvidence.options.find((kind) => id.startsWith(`${kind}-`)) ?? 'address';
}

/** The URI without credentials, query and fragment. This is what people are shown, and what an ID by address is made from. */
export function addressOf(uri: string): string {
  const url = new URL(uri);
  url.username = '';
  url.password = '';
  url.search = '';
  url.hash = '';
  return url.href;
}
