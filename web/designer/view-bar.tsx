/** The status bar below the label: whether what is seen is exact, and the controls of the view. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Choice } from '../controls/field.tsx';
import { Opens } from '../controls/opens.tsx';
import { t } from '../texts/texts.ts';
import { type Editor, STEP } from './editor.ts';
import { RecordSteps } from './record-choice.tsx';
import { RESOLUTIONS, SideBySide } from './side-by-side.tsx';
import type { Snap } from './snapping.ts';

const SNAPS: readonly Snap[] = ['dots', 'half', 'none'];

type ViewBarProps = { editor: Editor; onFit: () => void; children: ComponentChildren };

/** @param children what stands first: whether the picture is exact */
export function ViewBar({ editor, onFit, children }: ViewBarProps) {
  const { designer: words } = t.value;
  const { dpi, orientation, snap } = editor;
  const comparing = useSignal(false);
  const resolutions = [...new Set([...RESOLUTIONS, dpi.value])].toSorted((a, b) => a - b);
  return (
    <div class="view-bar">
      {children}
      <fieldset class="row zoom">
        <legend class="unseen">{words.zoom}</legend>
        <button
          type="button"
          class="button quiet square"
          aria-label={words.zoomOut}
          onClick={() => editor.magnify(1 / STEP)}
        >
          −
        </button>
        <button type="button" class="button quiet" onClick={onFit}>
          {words.fit}
        </button>
        <button
          type="button"
          class="button quiet square"
          aria-label={words.zoomIn}
          onClick={() => editor.magnify(STEP)}
        >
          +
        </button>
      </fieldset>
      <Choice
        aria-label={words.resolution}
        value={String(dpi.value)}
        options={resolutions.map((value) => ({ value: String(value), words: words.dpi(value) }))}
        onChoice={(value) => {
          dpi.value = Number(value);
        }}
      />
      <Choice
        aria-label={words.orientation}
        value={orientation.value}
        options={[
          { value: 'portrait', words: words.portrait },
          { value: 'landscape', words: words.landscape },
        ]}
        onChoice={(value) => {
          orientation.value = value === 'landscape' ? 'landscape' : 'portrait';
        }}
      />
      <Choice
        aria-label={words.snap}
        value={snap.value}
        options={SNAPS.map((value) => ({ value, words: words.snaps[value] }))}
        onChoice={(value) => {
          snap.value = SNAPS.find((one) => one === value) ?? 'dots';
        }}
      />
      <Opens what={comparing}>{words.sideBySide}</Opens>
      <RecordSteps records={editor.records} />
      <label class="check marks">
        <input
          type="checkbox"
          checked={editor.grid.value}
          onChange={({ currentTarget }) => {
            editor.grid.value = currentTarget.checked;
          }}
        />
        {words.grid}
      </label>
      <label class="check marks">
        <input
          type="checkbox"
          checked={editor.marks.value}
          onChange={({ currentTarget }) => {
            editor.marks.value = currentTarget.checked;
          }}
        />
        <span>
          <span class="mark" aria-hidden="true" /> {words.marks}
        </span>
      </label>
      {comparing.value && (
        <SideBySide
          editor={editor}
          onClose={() => {
            comparing.value = false;
          }}
        />
      )}
    </div>
  );
}
