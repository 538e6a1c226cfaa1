/** Passkeys (WebAuthn): signs in with one, and adds one. */
import { z } from 'zod';
import {
  type PasskeyView,
  passkeyAdd,
  passkeyCreation,
  passkeyRequest,
  passkeySignIn,
  passkeyView,
  sessionView,
} from '../../src/contract/people.ts';
import { call } from './call.ts';
import { signedIn } from './session.ts';

export const passkeyList = z.array(passkeyView);

/** Browsers allow passkeys only on pages that came over https or from localhost. */
export function knowsPasskeys(): boolean {
  return 'PublicKeyCredential' in globalThis && 'parseRequestOptionsFromJSON' in PublicKeyCredential;
}

/** @throws as `call`; DOMException `NotAllowedError` if the person has no passkey here, or cancels */
export async function signInByPasskey(): Promise<void> {
  const options = await call(passkeyRequest, '/session/passkey/options', { body: {} });
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const found = await navigator.credentials.get({ publicKey });
  const { credential } = passkeySignIn.shape;
  const body = { credential: credential.parse(jsonOf(found)) };
  signedIn(await call(sessionView, '/session/passkey', { body }));
}

/**
 * @param current the person's password; undefined if they have none
 * @throws as `call`; DOMException `NotAllowedError` if the person cancels, `InvalidStateError` if the authenticator is known
 */
export async function addPasskey(name: string, current: string | undefined): Promise<PasskeyView> {
  const body = current === undefined ? {} : { current };
  const options = await call(passkeyCreation, '/session/passkeys/options', { body });
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const made = await navigator.credentials.create({ publicKey });
  const credential = passkeyAdd.shape.credential.parse(jsonOf(made));
  return await call(passkeyView, '/session/passkeys', { body: { name, credential } });
}

function jsonOf(credential: Credential | null): unknown {
  if (!(credential instanceof PublicKeyCredential)) throw new Error('no passkey');
  return credential.toJSON();
}
