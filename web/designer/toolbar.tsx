/** The toolbar of the designer: adds elements, and acts on the selected ones. */
import { useRef } from 'preact/hooks';
import { Icon, type IconName } from '../controls/icon.tsx';
import { t } from '../texts/texts.ts';
import { ALIGNMENTS, align, distribute } from './align.ts';
import { duplicate, remove, reorder } from './document.ts';
import type { Editor } from './editor.ts';
import { newElement } from './new-elements.ts';
import { PICTURE_FILES, pictureElement } from './picture-file.ts';

const KINDS = ['text', 'barcode', 'box', 'ellipse', 'line'] as const;

export function Toolbar({ editor }: { editor: Editor }) {
  const { designer: words } = t.value;
  const { past, future } = editor.history.value;
  const selected = editor.chosen.value;
  const put = (kind: (typeof KINDS)[number]) =>
    editor.put(newElement(kind, editor.scene.peek().document, words.newText));
  const none = selected.length === 0;
  return (
    <div class="tools" role="toolbar" aria-label={words.tools}>
      <div class="tool-group">
        {KINDS.map((kind) => (
          <Tool key={kind} says={words.addThing(words.element[kind])} icon={kind} onUse={() => put(kind)} />
        ))}
        <AddPicture editor={editor} />
      </div>
      <div class="tool-group">
        <Tool says={words.undo} icon="undo" off={past.length === 0} onUse={() => editor.undo()} />
        <Tool says={words.redo} icon="redo" off={future.length === 0} onUse={() => editor.redo()} />
      </div>
      <div class="tool-group">
        <Tool says={words.turn} icon="turn" off={none} onUse={() => editor.turn()} />
        <Tool
          says={words.duplicate}
          icon="duplicate"
          off={none}
          onUse={() => {
            editor.do((scene) => duplicate(scene, selected, { x: 2, y: 2 }));
            editor.focusChosen();
          }}
        />
        <Tool
          says={words.remove}
          icon="remove"
          off={none}
          onUse={() => editor.do((scene) => remove(scene, selected))}
        />
      </div>
      <Arrange editor={editor} />
    </div>
  );
}

type ToolProps = { says: string; icon: IconName; off?: boolean; onUse: () => void };

/** What a tool is for is said when it is pointed at, and to whoever hears it. */
function Tool({ says, icon, off = false, onUse }: ToolProps) {
  return (
    <button
      type="button"
      class="button quiet square"
      aria-label={says}
      title={says}
      disabled={off}
      onClick={onUse}
    >
      <Icon name={icon} />
    </button>
  );
}

function Arrange({ editor }: { editor: Editor }) {
  const { designer: words } = t.value;
  const selected = editor.chosen.value;
  const choices: Readonly<Record<string, { says: string; act: () => void }>> = {
    ...Object.fromEntries(
      ALIGNMENTS.map((to) => [
        to,
        { says: words.alignments[to], act: () => editor.do((scene) => align(scene, editor.outlined, to)) },
      ]),
    ),
    x: { says: words.distributeX, act: () => editor.do((scene) => distribute(scene, editor.outlined, 'x')) },
    y: { says: words.distributeY, act: () => editor.do((scene) => distribute(scene, editor.outlined, 'y')) },
    front: { says: words.front, act: () => editor.do((scene) => reorder(scene, selected, 'front')) },
    group: { says: words.group, act: () => editor.group() },
    ungroup: { says: words.ungroup, act: () => editor.ungroup() },
    back: { says: words.back, act: () => editor.do((scene) => reorder(scene, selected, 'back')) },
  };
  const off: Readonly<Record<string, boolean>> = {
    x: selected.length < 3,
    y: selected.length < 3,
    group: !editor.canGroup.value,
    ungroup: !editor.canUngroup.value,
  };
  return (
    <select
      class="arrange"
      aria-label={words.align}
      value=""
      disabled={selected.length === 0}
      onChange={({ currentTarget }) => {
        choices[currentTarget.value]?.act();
        currentTarget.value = '';
      }}
    >
      <option value="">{words.align} …</option>
      {Object.entries(choices).map(([name, { says }]) => (
        <option key={name} value={name} disabled={off[name] === true}>
          {says}
        </option>
      ))}
    </select>
  );
}

function AddPicture({ editor }: { editor: Editor }) {
  const { designer: words } = t.value;
  const input = useRef<HTMLInputElement>(null);
  const take = async (file: File | undefined) => {
    if (file === undefined) return;
    const element = await pictureElement(file, editor.scene.value.document);
    if (element !== undefined) editor.put(element);
  };
  return (
    <>
      <Tool says={words.addThing(words.element.image)} icon="image" onUse={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        hidden
        accept={PICTURE_FILES}
        onChange={({ currentTarget }) => {
          void take(currentTarget.files?.[0]);
          currentTarget.value = '';
        }}
      />
    </>
  );
}
