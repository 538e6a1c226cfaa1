/** Undo and redo, by earlier and later scenes, which share all unchanged parts. */
import type { Scene } from './document.ts';

export type History = {
  readonly past: readonly Scene[];
  readonly now: Scene;
  readonly future: readonly Scene[];
  /** Names what the last step was part of, such as typing in a field. `step` says what it is for. */
  readonly together: string | undefined;
};

const MOST_STEPS = 2_000;

export function begin(scene: Scene): History {
  return { past: [], now: scene, future: [], together: undefined };
}

/** @param together successive steps that have the same text here are undone as one */
export function step(history: History, scene: Scene, together?: string): History {
  const { past, now } = history;
  if (scene === now) return history;
  if (scene.document === now.document && scene.layers === now.layers) {
    // A change of the selection is not a step, but after it nothing joins the step before any more.
    return { ...history, now: scene, together: undefined };
  }
  const joins = together !== undefined && together === history.together;
  const earlier = joins ? past : [...past, now].slice(-MOST_STEPS);
  return { past: earlier, now: scene, future: [], together };
}

export function undo(history: History): History {
  const { past, now, future } = history;
  const before = past.at(-1);
  if (before === undefined) return history;
  return { past: past.slice(0, -1), now: before, future: [now, ...future], together: undefined };
}

export function redo(history: History): History {
  const { past, now, future } = history;
  const [after, ...rest] = future;
  if (after === undefined) return history;
  return { past: [...past, now], now: after, future: rest, together: undefined };
}
