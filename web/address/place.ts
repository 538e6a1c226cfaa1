/** Where the person is: the part of the address behind `#`, which no server sees, with the filters of the page. */
import { signal } from '@preact/signals';

export type Place = { path: readonly string[]; query: URLSearchParams };

function read(): Place {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const parts = path.split('/').filter((part) => part !== '');
  return { path: parts.map(decoded), query: new URLSearchParams(query) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const place = signal<Place>(read());

export function followAddress(): void {
  addEventListener('hashchange', () => {
    // A link that signs in, opened where the console is open already, is followed as in a new tab.
    if (/^#(?:sign-in|invitation)=/.test(location.hash)) {
      location.reload();
      return;
    }
    place.value = read();
  });
}

export type Query = Readonly<Record<string, string | undefined>>;

/** An address within the console. Members that are empty are left out. */
export function to(path: readonly string[], query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') search.set(name, value);
  const text = search.toString();
  return `#/${path.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`;
}

export function go(path: readonly string[], query: Query = {}): void {
  location.hash = to(path, query);
}

/** Changes filters without a step to go back to. */
export function refine(changes: Query): void {
  const query = { ...Object.fromEntries(place.value.query), ...changes };
  history.replaceState(null, '', to(place.value.path, query));
  place.value = read();
}

const KEPT = 'platen.place';

/** For who leaves to sign in elsewhere, in this tab. */
export function keepPlace(): void {
  try {
    sessionStorage.setItem(KEPT, location.hash);
  } catch {
    // Private windows refuse; one comes back to the start.
  }
}

/** Back to where one was before that. */
export function comeBack(): void {
  try {
    const hash = sessionStorage.getItem(KEPT);
    sessionStorage.removeItem(KEPT);
    if (hash === null || !hash.startsWith('#/') || place.value.path.length > 0) return;
    history.replaceState(null, '', hash);
    place.value = read();
  } catch {
    // As above.
  }
}

/** What a link brings behind its name, taken out of the address, where a token would be seen over a shoulder. */
export function takeToken(name: 'sign-in' | 'invitation' | 'refused'): string | undefined {
  const prefix = `#${name}=`;
  if (!location.hash.startsWith(prefix)) return undefined;
  const token = location.hash.slice(prefix.length);
  history.replaceState(null, '', to([]));
  place.value = read();
  return token;
}
