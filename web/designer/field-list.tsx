/** The list of the label's fields: name, caption, how it is typed, sample, default, and whether lists name jobs by it. */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { Check, TextField, typed } from '../controls/field.tsx';
import { Icon, type IconName } from '../controls/icon.tsx';
import { type FieldKind, fieldKinds } from '../print/field-kinds.ts';
import { listed, t } from '../texts/texts.ts';
import { changeLabel } from './document.ts';
import type { Editor } from './editor.ts';

export function FieldList({ editor }: { editor: Editor }) {
  const { designer: words } = t.value;
  const name = useSignal('');
  const fault = useSignal(false);
  const { document } = editor.scene.value;
  const fields = document.fields ?? [];
  const kinds = useMemo(() => fieldKinds(document), [document]);
  const set = (at: number, member: 'caption' | 'sample' | 'default', text: string) =>
    editor.do((scene) => {
      const next = (scene.document.fields ?? []).map((field, place) => {
        if (place !== at) return field;
        const { [member]: _before, ...rest } = field;
        return text === '' && member !== 'default' ? rest : { ...field, [member]: text };
      });
      return changeLabel(scene, { fields: next });
    }, `field ${at} ${member}`);
  // Lists name a job by one value, so only one field can be the reference.
  const refer = (at: number, on: boolean) =>
    editor.do((scene) => {
      const next = (scene.document.fields ?? []).map(({ reference: _before, ...field }, place) =>
        on && place === at ? { ...field, reference: true } : field,
      );
      return changeLabel(scene, { fields: next });
    });
  // The page Print asks for the values in this order.
  const move = (from: number, to: number) =>
    editor.do((scene) => {
      const next = [...(scene.document.fields ?? [])];
      next.splice(to, 0, ...next.splice(from, 1));
      return changeLabel(scene, { fields: next });
    });
  const add = (event: SubmitEvent) => {
    event.preventDefault();
    const before = editor.scene.value;
    editor.do((scene) =>
      changeLabel(scene, {
        fields: [...(scene.document.fields ?? []), { name: name.value.trim(), sample: '' }],
      }),
    );
    fault.value = editor.scene.value === before;
    if (!fault.value) name.value = '';
  };
  return (
    <div class="stack">
      {fields.length === 0 && <p class="muted">{words.noFields}</p>}
      {fields.map((field, at) => (
        <fieldset key={field.name} class="stack tight">
          <legend class="label anywhere">{field.name}</legend>
          <p class="small muted">{words.typedAs(kindWords(kinds.get(field.name)))}</p>
          <TextField
            label={words.caption}
            hint={words.captionHint}
            maxLength={200}
            value={field.caption ?? ''}
            onText={(text) => set(at, 'caption', text)}
          />
          <TextField
            label={words.sample}
            value={field.sample ?? ''}
            onText={(text) => set(at, 'sample', text)}
          />
          <TextField
            label={words.default}
            value={field.default ?? ''}
            onText={(text) => set(at, 'default', text)}
          />
          <Check label={words.reference} checked={field.reference === true} onCheck={(on) => refer(at, on)} />
          <div class="row">
            <Step of={field.name} icon="up" says={words.up} off={at === 0} onStep={() => move(at, at - 1)} />
            <Step
              of={field.name}
              icon="down"
              says={words.down}
              off={at + 1 === fields.length}
              onStep={() => move(at, at + 1)}
            />
            <button
              type="button"
              class="button"
              aria-label={words.about(words.removeField, field.name)}
              onClick={() =>
                editor.do((scene) =>
                  changeLabel(scene, {
                    fields: (scene.document.fields ?? []).filter((_, place) => place !== at),
                  }),
                )
              }
            >
              {words.removeField}
            </button>
          </div>
        </fieldset>
      ))}
      <form class="stack tight" onSubmit={add}>
        <TextField
          label={words.fieldName}
          maxLength={200}
          fault={fault.value ? words.fieldFault : undefined}
          {...typed(name)}
        />
        <div class="row">
          <button type="submit" class="button" disabled={name.value.trim() === ''}>
            {words.addField}
          </button>
        </div>
      </form>
    </div>
  );
}

/** What the page Print lets people type. */
function kindWords(kind: FieldKind = { kind: 'text' }): string {
  const { kinds } = t.value.designer;
  switch (kind.kind) {
    case 'digits':
      return kinds.digits(kind.least, kind.most);
    case 'date':
      return kind.time ? kinds.time : kinds.date;
    case 'choice':
      return kinds.choice(listed(kind.values));
    case 'suggested':
      return kinds.suggested(listed(kind.values));
    default:
      return kinds[kind.kind];
  }
}

type StepProps = { of: string; icon: IconName; says: string; off: boolean; onStep: () => void };

function Step({ of, icon, says, off, onStep }: StepProps) {
  return (
    <button
      type="button"
      class="button quiet square"
      aria-label={t.value.designer.about(says, of)}
      title={says}
      disabled={off}
      onClick={onStep}
    >
      <Icon name={icon} />
    </button>
  );
}
