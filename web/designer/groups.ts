/** Groups of elements, which are selected, moved and resized as one. In the template they share the name of their group. */
import { change, changed, freeGroup, placed, type Scene, select } from './document.ts';

/** Makes these elements one group, even if some of them had other groups. */
export function group(scene: Scene, keys: readonly number[]): Scene {
  if (keys.length < 2) return scene;
  const others = placed(scene).filter(({ key }) => !keys.includes(key));
  const name = freeGroup(new Set(others.map(({ element }) => element.group)));
  return select(
    change(scene, keys, (element) => (element.group === name ? element : changed(element, { group: name }))),
    keys,
  );
}

export function ungroup(scene: Scene, keys: readonly number[]): Scene {
  return change(scene, keys, (element) =>
    element.group === undefined ? element : changed(element, { group: undefined }),
  );
}
