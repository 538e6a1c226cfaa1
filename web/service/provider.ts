/** Single sign-on: sends the browser to the provider, from where it comes back to the place that it left. */
import { providerBegun } from '../../src/contract/people.ts';
import { kept } from '../address/kept.ts';
import { keepPlace } from '../address/place.ts';
import { call } from './call.ts';

/**
 * Set after a sign-out. The provider must then ask who signs in, because many people may share the tablet. `asking` while the
 * browser is there: only a sign-in that succeeds clears it, so that after Back the next attempt asks again.
 */
export const signedOut = kept('signed-out');

export async function signInAtProvider(): Promise<void> {
  const again = signedOut.value !== '';
  const { url } = await call(providerBegun, '/session/provider', { body: { again } });
  if (again) signedOut.keep('asking');
  keepPlace();
  location.assign(url);
  // This keeps the buttons disabled until the browser has left the page, or has come back to the page as it was.
  await new Promise((resolve) => addEventListener('pageshow', resolve, { once: true }));
}
