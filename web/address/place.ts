/** Where in the console a person is: path and filters, in the part of the address after `#`, which no server sees. */
import { signal } from '@preact/signals';

type Place = { path: readonly string[]; query: URLSearchParams };

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
    // A sign-in link may be opened in a tab that already shows the console: then the page is loaded again, as in a new tab.
    if (/^#(?:sign-in|invitation)=/.test(location.hash)) {
      location.reload();
      return;
    }
    place.value = read();
  });
}

type Query = Readonly<Record<string, string | undefined>>;

/** An address within the console. Members of the query that are empty are left out. */
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

/** Changes filters in the address without a new entry in the browser's history. */
export function refine(changes: Query): void {
  const query = { ...Object.fromEntries(place.value.query), ...changes };
  history.replaceState(null, '', to(place.value.path, query));
  place.value = read();
}

const KEPT = 'platen.place';

/** Keeps the place for this tab while the person signs in at the provider. */
export function keepPlace(): void {
  try {
    sessionStorage.setItem(KEPT, location.hash);
  } catch {
    // A private window may refuse storage. The person then comes back to the start page.
  }
}

/** Returns to the place that `keepPlace` kept. */
export function comeBack(): void {
  try {
    const hash = sessionStorage.getItem(KEPT);
    sessionStorage.removeItem(KEPT);
    if (hash === null || !hash.startsWith('#/') || place.value.path.length > 0) return;
    history.replaceState(null, '', hash);
    place.value = read();
  } catch {
    // A private window again.
  }
}

/** Removes a link's token from the address, where somebody could read it over the person's shoulder. */
export function takeToken(name: 'sign-in' | 'invitation' | 'refused'): string | undefined {
  const prefix = `#${name}=`;
  if (!location.hash.startsWith(prefix)) return undefined;
  const token = location.hash.slice(prefix.length);
  history.replaceState(null, '', to([]));
  place.value = read();
  return token;
}
