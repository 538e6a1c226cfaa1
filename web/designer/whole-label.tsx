/** The panel for the label as a whole: name, size, sheet, pictures and fonts. */
import { TextField } from '../controls/field.tsx';
import { t } from '../texts/texts.ts';
import type { Editor } from './editor.ts';
import { NumberInput } from './number-input.tsx';
import { Fonts, Pictures } from './resources.tsx';
import { SheetPanel } from './sheet-panel.tsx';

export function WholeLabel({ editor }: { editor: Editor }) {
  const { designer: words } = t.value;
  const { name, width, height, dpi, timeZone } = editor.scene.value.document;
  const set = (
    member: 'name' | 'width' | 'height' | 'dpi' | 'timeZone',
    value: string | number | undefined,
  ) => editor.setLabel({ [member]: value }, `label ${member}`);
  return (
    <>
      <TextField label={words.labelName} value={name} maxLength={200} onText={(text) => set('name', text)} />
      <div class="property-grid">
        <NumberInput
          label={words.width}
          value={width}
          onNumber={(value) => value !== undefined && set('width', value)}
        />
        <NumberInput
          label={words.height}
          value={height}
          onNumber={(value) => value !== undefined && set('height', value)}
        />
        <NumberInput
          label={words.madeFor}
          value={dpi}
          step={1}
          optional
          fallback={words.anyResolution}
          onNumber={(value) => set('dpi', value)}
        />
        <TextField
          label={words.timeZone}
          value={timeZone ?? ''}
          placeholder="UTC"
          maxLength={100}
          onText={(text) => set('timeZone', text.trim() === '' ? undefined : text.trim())}
        />
      </div>
      <SheetPanel editor={editor} />
      <Pictures editor={editor} />
      <Fonts editor={editor} />
    </>
  );
}
