/** Undo and redo of everything: the scenes as they were, which share what did not change. */
import type { Scene } from './document.ts';

export type History = {
  readonly past: readonly Scene[];
  readonly now: Scene;
  readonly future: readonly Scene[];
  /** What the last step was part of: typing a word, holding an arrow key. */
  readonly together: string | undefined;
};

const MOST_STEPS = 2_000;

export function begin(scene: Scene): History {
  return { past: [], now: scene, future: [], together: undefined };
}

/** @param together steps that follow each other with the same word here are one */
export function step(history: History, scene: Scene, together?: string): History {
  const { past, now } = history;
  if (scene === now) return history;
  if (scene.document === now.document && scene.layers === now.layers) {
    // What is selected is no step of its own, but ends the one before.
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
