/** The toolbar of the designer: adds elements, and acts on the selected ones. */
import { useRef } from 'preact/hooks';
import { t } from '../texts/texts.ts';
import { ALIGNMENTS, align, distribute } from './align.ts';
import { duplicate, remove, reorder } from './document.ts';
import type { Editor } from './editor.ts';
import { newElement } from './new-elements.ts';
import { PICTURE_FILES, pictureElement } from './picture-file.ts';
import { Further, Tool, Tools } from './tools.tsx';

const KINDS = ['text', 'barcode', 'box', 'ellipse', 'line'] as const;

export function Toolbar({ editor }: { editor: Editor }) {
  const { designer: words } = t.value;
  const { past, future } = editor.history.value;
  const selected = editor.chosen.value;
  const put = (kind: (typeof KINDS)[number]) =>
    editor.put(newElement(kind, editor.scene.peek().document, words.newText));
  const none = selected.length === 0;
  return (
    <div class="bar tools" role="toolbar" aria-label={words.tools}>
      <Tools says={words.add}>
        {KINDS.map((kind) => (
          <Tool key={kind} says={words.addThing(words.element[kind])} icon={kind} onUse={() => put(kind)} />
        ))}
        <AddPicture editor={editor} />
      </Tools>
      <Tools says={words.steps}>
        <Tool says={words.undo} icon="undo" off={past.length === 0} onUse={() => editor.undo()} />
        <Tool says={words.redo} icon="redo" off={future.length === 0} onUse={() => editor.redo()} />
      </Tools>
      <Tools says={words.change}>
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
      </Tools>
      <Further says={words.arrange}>
        <Arrange editor={editor} />
      </Further>
    </div>
  );
}

/** Tools that put the selected elements in line, at equal distances, before or behind others, and into groups. */
function Arrange({ editor }: { editor: Editor }) {
  const { designer: words } = t.value;
  const selected = editor.chosen.value;
  const none = selected.length === 0;
  return (
    <>
      <Tools says={words.align}>
        {ALIGNMENTS.map((to) => (
          <Tool
            key={to}
            says={words.alignments[to]}
            icon={to}
            off={none}
            onUse={() => editor.do((scene) => align(scene, editor.outlined, to))}
          />
        ))}
      </Tools>
      <Tools says={words.distribute}>
        {(['x', 'y'] as const).map((axis) => (
          <Tool
            key={axis}
            says={axis === 'x' ? words.distributeX : words.distributeY}
            icon={axis === 'x' ? 'across' : 'along'}
            off={selected.length < 3}
            onUse={() => editor.do((scene) => distribute(scene, editor.outlined, axis))}
          />
        ))}
      </Tools>
      <Tools says={words.order}>
        {(['front', 'back'] as const).map((end) => (
          <Tool
            key={end}
            says={words[end]}
            icon={end}
            off={none}
            onUse={() => editor.do((scene) => reorder(scene, selected, end))}
          />
        ))}
      </Tools>
      <Tools says={words.groups}>
        <Tool says={words.group} icon="group" off={!editor.canGroup.value} onUse={() => editor.group()} />
        <Tool
          says={words.ungroup}
          icon="ungroup"
          off={!editor.canUngroup.value}
          onUse={() => editor.ungroup()}
        />
      </Tools>
    </>
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
