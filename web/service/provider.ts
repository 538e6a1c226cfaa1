/** Single sign-on: sends the browser to the provider; it comes back to the place that it left. */
import { providerBegun } from '../../src/contract/people.ts';
import { kept } from '../address/kept.ts';
import { keepPlace } from '../address/place.ts';
import { call } from './call.ts';

/** Set after a sign-out: the provider must then ask who signs in, for example on a tablet that many share. */
export const signedOut = kept('signed-out');

export async function signInAtProvider(): Promise<void> {
  const body = { again: signedOut.value !== '' };
  const { url } = await call(providerBegun, '/session/provider', { body });
  signedOut.keep('');
  keepPlace();
  location.assign(url);
  // Never resolves: the buttons stay disabled until the browser has left the page.
  await new Promise(() => {});
}
