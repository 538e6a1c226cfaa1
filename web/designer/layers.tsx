/** The list of all elements, the topmost first, in which people reorder, lock and hide them. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { Icon, type IconName } from '../controls/icon.tsx';
import { t } from '../texts/texts.ts';
import { mark, moveLayer, placed, type Scene } from './document.ts';
import type { Editor } from './editor.ts';
import { nameOf } from './naming.ts';

export function Layers({ editor }: { editor: Editor }) {
  const { designer: words } = t.value;
  const { selected } = editor.scene.value;
  const layers = placed(editor.scene.value).toReversed();
  const list = useRef<HTMLOListElement>(null);
  const dragged = useSignal<{ key: number; scene: Scene } | null>(null);
  /** The dragged layer goes below all those whose middle is above the pointer. */
  const drag = ({ clientY }: PointerEvent) => {
    const { value } = dragged;
    if (value === null) return;
    const others = [...(list.current?.children ?? [])].filter((_, at) => layers[at]?.key !== value.key);
    const above = others.filter((row) => {
      const { top, height } = row.getBoundingClientRect();
      return top + height / 2 < clientY;
    });
    editor.dragged.value = moveLayer(value.scene, value.key, layers.length - 1 - above.length);
  };
  const drop = (keep: boolean) => {
    const moved = editor.dragged.value;
    editor.dragged.value = undefined;
    if (keep && dragged.value !== null && moved !== undefined) editor.do(() => moved);
    dragged.value = null;
  };
  if (layers.length === 0) return <p class="muted">{words.nothingThere}</p>;
  return (
    <div class="stack tight">
      <ol
        class="layers"
        ref={list}
        onPointerMove={drag}
        onPointerUp={() => drop(true)}
        onPointerCancel={() => drop(false)}
      >
        {layers.map(({ key, at, element, locked, hidden }) => {
          const name = nameOf(element);
          const button = (
            what: string,
            icon: IconName,
            pressed: boolean | undefined,
            act: () => void,
            off = false,
          ) => (
            <button
              type="button"
              class="button quiet square"
              aria-label={words.about(what, name)}
              title={what}
              {...(pressed === undefined ? {} : { 'aria-pressed': pressed })}
              disabled={off}
              onClick={act}
            >
              <Icon name={icon} />
            </button>
          );
          return (
            <li
              key={key}
              class={`${selected.includes(key) ? 'chosen' : ''} ${dragged.value?.key === key ? 'dragged' : ''}`}
            >
              <span
                class="grip"
                title={words.drag}
                aria-hidden="true"
                onPointerDown={(event) => {
                  if (event.button !== 0) return;
                  event.preventDefault();
                  // The list captures the pointer, because the rows change their places during the drag.
                  list.current?.setPointerCapture(event.pointerId);
                  dragged.value = { key, scene: editor.scene.value };
                }}
              >
                <Icon name="drag" />
              </span>
              <button
                type="button"
                class="layer-name"
                aria-pressed={selected.includes(key)}
                disabled={locked || hidden}
                onClick={({ shiftKey }) => editor.select(shiftKey ? [...selected, key] : [key], true)}
              >
                {element.group !== undefined && (
                  <span class="badge" title={words.groupOf(element.group)}>
                    <span class="unseen">{words.groupOf(element.group)}</span>
                    <span aria-hidden="true">{element.group}</span>
                  </span>
                )}{' '}
                {name}
              </button>
              {button(
                words.up,
                'up',
                undefined,
                () => editor.do((scene) => moveLayer(scene, key, at + 1)),
                at + 1 === layers.length,
              )}
              {button(
                words.down,
                'down',
                undefined,
                () => editor.do((scene) => moveLayer(scene, key, at - 1)),
                at === 0,
              )}
              {button(words.lock, locked ? 'lock' : 'unlock', locked, () =>
                editor.do((scene) => mark(scene, key, { locked: !locked })),
              )}
              {button(words.hide, hidden ? 'hidden' : 'shown', hidden, () =>
                editor.do((scene) => mark(scene, key, { hidden: !hidden })),
              )}
            </li>
          );
        })}
      </ol>
      {layers.some(({ hidden }) => hidden) && <p class="small muted">{words.hiddenNote}</p>}
    </div>
  );
}
