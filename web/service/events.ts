/**
 * Follows the service's stream of changes. A browser opens only six connections to a host, so all of its tabs share
 * one stream. Without https there are no locks with which to choose a tab, and each tab opens a stream of its own.
 */
import { signal } from '@preact/signals';
import { type Changes, changes } from '../../src/contract/people.ts';

export type Change = Changes | 'everything';

/** Whether the stream works at the moment. While it does not, pages ask the service more often. */
export const told = signal(false);

const listeners = new Set<(change: Change) => void>();

/** @returns a function that stops listening */
export function onChange(listener: (change: Change) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

type Said = { told: boolean } | { change: Change };

function take(said: Said): void {
  if ('told' in said) told.value = said.told;
  else for (const listener of listeners) listener(said.change);
}

/** @returns a function that stops following */
export function followEvents(): () => void {
  const stop = new AbortController();
  const channel = new BroadcastChannel('platen-changes');
  channel.onmessage = ({ data }: MessageEvent<Said>) => take(data);
  const say = (said: Said) => {
    take(said);
    channel.postMessage(said);
  };
  const { locks } = navigator;
  if (locks === undefined) openStream(take, stop.signal);
  else {
    // A tab keeps the lock until it is closed or signs out. Then the next tab that waits for the lock opens the stream.
    const held = () =>
      new Promise<void>((resolve) => {
        openStream(say, stop.signal);
        stop.signal.addEventListener('abort', () => resolve());
      });
    locks.request('platen-changes', { signal: stop.signal }, held).catch(() => {});
  }
  return () => {
    stop.abort();
    channel.close();
    told.value = false;
  };
}

/** After so many intervals without a heartbeat the stream counts as cut, because a connection can be cut without a sign. */
const MISSED = 2.5;

/** ms until a refused stream is opened again: the first time, and at most. The time doubles with each attempt. */
const AGAIN = { first: 2_000, most: 60_000 };

function openStream(say: (said: Said) => void, signal: AbortSignal): void {
  let source: EventSource;
  let wait = AGAIN.first;
  let silence: ReturnType<typeof setTimeout> | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  const open = () => {
    source = new EventSource('/app/events');
    source.addEventListener('open', () => {
      wait = AGAIN.first;
      say({ told: true });
    });
    // An EventSource reconnects by itself, but not after an error answer, such as a proxy gives while the service restarts.
    source.addEventListener('error', () => {
      say({ told: false });
      if (source.readyState !== EventSource.CLOSED) return;
      clearTimeout(silence);
      again = setTimeout(open, wait);
      wait = Math.min(wait * 2, AGAIN.most);
    });
    source.addEventListener('here', ({ data }: MessageEvent<string>) => {
      clearTimeout(silence);
      const seconds = Number(data);
      if (Number.isFinite(seconds))
        silence = setTimeout(() => say({ told: false }), seconds * MISSED * 1_000);
      say({ told: true });
    });
    source.addEventListener('resync', () => say({ change: 'everything' }));
    source.addEventListener('changed', ({ data }: MessageEvent<string>) => {
      const parsed = changes.safeParse(JSON.parse(data));
      say({ told: true });
      say({ change: parsed.success ? parsed.data : 'everything' });
    });
  };
  open();
  addEventListener('offline', () => say({ told: false }), { signal });
  signal.addEventListener('abort', () => {
    clearTimeout(silence);
    clearTimeout(again);
    source.close();
  });
}
