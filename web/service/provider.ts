/** Single sign-on: the browser goes to the provider, and comes back to where it was. */
import { providerBegun } from '../../src/contract/people.ts';
import { kept } from '../address/kept.ts';
import { keepPlace } from '../address/place.ts';
import { call } from './call.ts';

/** Somebody has signed out here: the provider is to ask who it is, on a tablet that many use. */
export const signedOut = kept('signed-out');

export async function signInAtProvider(): Promise<void> {
  const body = { again: signedOut.value !== '' };
  const { url } = await call(providerBegun, '/session/provider', { body });
  signedOut.keep('');
  keepPlace();
  location.assign(url);
  // The page goes away; until then its buttons rest.
  await new Promise(() => {});
}
