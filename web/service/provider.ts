/** Single sign-on: sends the browser to the provider; it comes back to the place that it left. */
import { providerBegun } from '../../src/contract/people.ts';
import { kept } from '../address/kept.ts';
import { keepPlace } from '../address/place.ts';
import { call } from './call.ts';

/**
 * Set after a sign-out: the provider must then ask who signs in, for example on a tablet that many share. `asking` while it
 * does: only who comes back signed in ends it, so that Back and a second attempt ask again.
 */
export const signedOut = kept('signed-out');

export async function signInAtProvider(): Promise<void> {
  const again = signedOut.value !== '';
  const { url } = await call(providerBegun, '/session/provider', { body: { again } });
  if (again) signedOut.keep('asking');
  keepPlace();
  location.assign(url);
  // The buttons stay disabled until the browser has left the page, or has come back to it as it was.
  await new Promise((resolve) => addEventListener('pageshow', resolve, { once: true }));
}
