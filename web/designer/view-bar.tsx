/** The bar below the label: says whether the picture is exact, and has the controls of the view. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Choice } from '../controls/field.tsx';
import { sets } from '../controls/sets.ts';
import { t } from '../texts/texts.ts';
import { type Editor, STEP } from './editor.ts';
import { RecordSteps } from './record-choice.tsx';
import { RESOLUTIONS, SideBySide } from './side-by-side.tsx';
import type { Snap } from './snapping.ts';
import { Further, Tool, Tools } from './tools.tsx';

const SNAPS: readonly Snap[] = ['dots', 'half', 'none'];

type ViewBarProps = { editor: Editor; onFit: () => void; children: ComponentChildren };

/** @param children stands first: says whether the picture is exact */
export function ViewBar({ editor, onFit, children }: ViewBarProps) {
  const { designer: words } = t.value;
  const { dpi, orientation, snap, grid, marks } = editor;
  const comparing = useSignal(false);
  const resolutions = [...new Set([...RESOLUTIONS, dpi.value])].toSorted((a, b) => a - b);
  return (
    <div class="bar view-bar">
      {children}
      <RecordSteps records={editor.records} />
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
      <Further says={words.view}>
        <View says={words.resolution}>
          <Choice
            aria-label={words.resolution}
            value={String(dpi.value)}
            options={resolutions.map((value) => ({ value: String(value), words: words.dpi(value) }))}
            onChoice={(value) => {
              dpi.value = Number(value);
            }}
          />
        </View>
        <View says={words.orientation}>
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
        </View>
        <View says={words.snap}>
          <Choice
            aria-label={words.snap}
            value={snap.value}
            options={SNAPS.map((value) => ({ value, words: words.snaps[value] }))}
            onChoice={(value) => {
              snap.value = SNAPS.find((one) => one === value) ?? 'dots';
            }}
          />
        </View>
        <Tools says={words.view}>
          <Tool
            says={words.grid}
            icon="grid"
            isOn={grid.value}
            onUse={() => {
              grid.value = !grid.value;
            }}
          />
          <Tool
            says={words.marks}
            icon="dotted"
            isOn={marks.value}
            onUse={() => {
              marks.value = !marks.value;
            }}
          />
          <Tool says={words.sideBySide} icon="sides" onUse={sets(comparing, true)} />
        </Tools>
      </Further>
      {comparing.value && <SideBySide editor={editor} onClose={sets(comparing, false)} />}
    </div>
  );
}

/** A choice. Its name is visible only if the choice lies behind a button. */
function View({ says, children }: { says: string; children: ComponentChildren }) {
  return (
    <div class="view-choice" title={says}>
      <span class="tool-words label" aria-hidden="true">
        {says}
      </span>
      {children}
    </div>
  );
}
