/** A field on the label itself, in which the content of a text or a barcode is typed where it stands. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../texts/texts.ts';
import { contentOf, type Placed } from './document.ts';
import type { Editor } from './editor.ts';

export function Typing({ editor }: { editor: Editor }) {
  const own = editor.selected.find(({ key }) => key === editor.typing.value);
  return own === undefined ? null : <Box key={own.key} editor={editor} own={own} />;
}

function Box({ editor, own }: { editor: Editor; own: Placed }) {
  const area = useRef<HTMLTextAreaElement>(null);
  // Before the next key: one that is typed fast would else go to the label, where R turns the element and Delete removes it.
  useLayoutEffect(() => {
    area.current?.focus();
    area.current?.select();
  }, []);
  const content = contentOf(own.element);
  if (content === undefined) return null;
  const { document: label } = editor.scene.value;
  const { x, y, width, height } = editor.frame(own);
  const landscape = editor.orientation.value === 'landscape';
  const seen = landscape
    ? { x: label.height - y - height, y: x, width: height, height: width }
    : { x, y, width, height };
  const zoom = editor.zoom.value;
  const end = () => {
    editor.typing.value = undefined;
  };
  return (
    <textarea
      ref={area}
      class="input typing"
      aria-label={t.value.designer.onLabel}
      spellcheck={content.name === 'text'}
      style={{
        left: `${seen.x * zoom}px`,
        top: `${seen.y * zoom}px`,
        width: `${seen.width * zoom}px`,
        height: `${seen.height * zoom}px`,
      }}
      value={content.text}
      onInput={({ currentTarget }) =>
        editor.set([own.key], { [content.name]: currentTarget.value }, content.name)
      }
      onBlur={end}
      onKeyDown={(event) => {
        // A text may have several lines.
        if (event.key !== 'Escape' && (event.key !== 'Enter' || content.name === 'text')) return;
        event.preventDefault();
        end();
        editor.focusChosen();
      }}
    />
  );
}
