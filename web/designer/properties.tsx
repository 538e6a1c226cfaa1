/** The panel with all properties of the selected element. */
import { useId, useRef } from 'preact/hooks';
import { Check, ChoiceField, Field, TextField } from '../controls/field.tsx';
import { numeral, t } from '../texts/texts.ts';
import { ConditionChoice } from './condition-choice.tsx';
import { contentOf, type LabelElement, type Placed } from './document.ts';
import type { Editor } from './editor.ts';
import { Gs1Builder } from './gs1/builder.tsx';
import { InsertField } from './insert-field.tsx';
import { nameOf } from './naming.ts';
import { NumberInput } from './number-input.tsx';
import { PictureChoice } from './picture-choice.tsx';
import { ProblemList, problemsOf } from './problem-list.tsx';
import { kindOf, propertiesOf, type Section } from './property-kinds.ts';
import { gs1Kind } from './symbologies.ts';
import { SymbologyChoice } from './symbology-choice.tsx';

type Props = { editor: Editor; own: Placed };

export function Properties({ editor }: { editor: Editor }) {
  const { designer: words } = t.value;
  const { selected } = editor;
  const [own, ...more] = selected;
  if (own === undefined) {
    const none = editor.scene.value.document.elements.length === 0;
    return <p class="muted">{none ? words.nothingThere : words.nothingChosen}</p>;
  }
  if (more.length > 0) return <Shared key={selected.map(({ key }) => key).join()} editor={editor} />;
  return (
    <div class="stack" key={own.key}>
      <h2 class="anywhere">{nameOf(own.element)}</h2>
      <ProblemList editor={editor} of={own.key} />
      <ByPrinter type={own.element.type} what={editor.drawing.last.value?.printer.get(own.key)} />
      <Content editor={editor} own={own} />
      {(['place', 'look', 'more'] as const).map((section) => (
        <Group key={section} editor={editor} own={own} section={section} />
      ))}
    </div>
  );
}

/** The properties that all selected elements have. Setting one sets it for all of them. */
function Shared({ editor }: { editor: Editor }) {
  const { designer: words } = t.value;
  const { selected } = editor;
  const [first, ...more] = selected;
  if (first === undefined) return null;
  const kind = (own: Placed, name: string) => JSON.stringify(kindOf(own.element.type, name));
  return (
    <div class="stack">
      <h2>{words.several(selected.length)}</h2>
      {(['place', 'look'] as const).map((section) => {
        const names = propertiesOf(first.element, section).filter(
          (name) =>
            name !== 'image' &&
            more.every(
              (own) =>
                propertiesOf(own.element, section).includes(name) && kind(own, name) === kind(first, name),
            ),
        );
        return (
          names.length > 0 && (
            <fieldset key={section} class="property-grid">
              <legend class="label">{words.section[section]}</legend>
              {names.map((name) => (
                <Property key={name} editor={editor} of={selected} name={name} />
              ))}
            </fieldset>
          )
        );
      })}
    </div>
  );
}

/** Says what the picture cannot show: a ZPL printer sets this text in its own font, which is slightly different. */
function ByPrinter({ type, what }: { type: string; what: 'text' | 'bars' | undefined }) {
  if (what === undefined) return null;
  return (
    <p class="small muted">
      {t.value.designer.byPrinter[type === 'barcode' && what === 'text' ? 'line' : what]}
    </p>
  );
}

type Setter = (members: Readonly<Record<string, unknown>>, word?: string) => boolean;

/** As `Editor.set`, for these elements. */
function setter(editor: Editor, of: readonly Placed[]): Setter {
  const keys = of.map(({ key }) => key);
  return (members, word) => editor.set(keys, members, word);
}

function Content({ editor, own }: Props) {
  const { designer: words } = t.value;
  const area = useRef<HTMLTextAreaElement>(null);
  const { element } = own;
  const set = setter(editor, [own]);
  if (element.type === 'image')
    return <PictureChoice onPicture={(data) => set({ data, image: undefined })} />;
  const content = contentOf(element);
  if (content === undefined) return null;
  const { name, text } = content;
  return (
    <section class="stack tight">
      {element.type === 'barcode' && <SymbologyChoice editor={editor} own={own} element={element} />}
      <Field label={words.property[name]}>
        {(attributes) => (
          <textarea
            {...attributes}
            ref={area}
            rows={2}
            class="input"
            value={text}
            spellcheck={element.type === 'text'}
            onInput={({ currentTarget }) => set({ [name]: currentTarget.value }, name)}
          />
        )}
      </Field>
      <InsertField editor={editor} area={area} text={text} onText={(next) => set({ [name]: next })} />
      {element.type === 'barcode' && gs1Kind(element.symbology) !== undefined && (
        <Gs1Builder
          editor={editor}
          element={element}
          problems={problemsOf(editor, own.key)}
          onValue={(value, word) => set({ value }, word)}
        />
      )}
    </section>
  );
}

function Group({ editor, own, section }: Props & { section: Exclude<Section, 'content'> }) {
  const { designer: words } = t.value;
  const names = propertiesOf(own.element, section);
  const fields = names.map((name) => <Property key={name} editor={editor} of={[own]} name={name} />);
  if (section !== 'more') {
    return (
      <fieldset class="property-grid">
        <legend class="label">{words.section[section]}</legend>
        {fields}
      </fieldset>
    );
  }
  return (
    <details>
      <summary class="label">{words.section.more}</summary>
      <ConditionChoice
        editor={editor}
        when={own.element.when}
        onWhen={(when) => setter(editor, [own])({ when })}
      />
      <div class="property-grid">{fields}</div>
    </details>
  );
}

/** The field for a property of one element, or of several that all have it. */
function Property({ editor, of, name }: { editor: Editor; of: readonly Placed[]; name: string }) {
  const { designer: words } = t.value;
  const [own, ...more] = of;
  if (own === undefined) return null;
  const { element } = own;
  const kind = kindOf(element.type, name);
  const label = isWord(words.property, name) ? words.property[name] : name;
  const differ = more.some((other) => memberOf(other.element, name) !== memberOf(element, name));
  const value = differ ? undefined : memberOf(element, name);
  const set = setter(editor, of);
  const hint = hintOf(element, name);
  if (name === 'image')
    return <PictureName editor={editor} label={label} value={value} set={set} hint={hint} />;
  if (name === 'font')
    return <FontChoice editor={editor} label={label} value={value} differ={differ} set={set} />;
  switch (kind.kind) {
    case 'flag':
      return (
        <Check
          label={label}
          checked={value === true}
          indeterminate={differ}
          onCheck={(on) => set({ [name]: on })}
        />
      );
    case 'choice': {
      const say = (option: string | number) =>
        typeof option === 'number' ? `${option}${name === 'rotation' ? '°' : ''}` : optionWords(option);
      const options = kind.options.map((option) => ({ value: String(option), words: say(option) }));
      const empty = kind.fallback === undefined ? [{ value: '', words: words.automatic }] : [];
      return (
        <ChoiceField
          label={label}
          value={differ ? DIFFER : String(value ?? kind.fallback ?? '')}
          options={[...differing(differ), ...empty, ...options]}
          onChoice={(text) => {
            if (text === DIFFER) return;
            set({ [name]: text === '' ? undefined : kind.options.find((option) => String(option) === text) });
          }}
        />
      );
    }
    case 'number':
      return (
        <NumberInput
          label={label}
          value={typeof value === 'number' ? value : undefined}
          fallback={
            differ
              ? words.differ
              : typeof kind.fallback === 'number'
                ? numeral(kind.fallback)
                : words.automatic
          }
          hint={hint}
          step={STEPS[name] ?? 0.5}
          optional={kind.optional || kind.fallback !== undefined}
          onNumber={(number) => set({ [name]: number }, name)}
        />
      );
    case 'words':
      return (
        <TextField
          label={label}
          hint={hint}
          value={value === undefined ? '' : String(value)}
          onText={(text) => set({ [name]: written(name, text) }, name)}
        />
      );
  }
}

/** The value of a choice while the selected elements differ; no property can have this value. */
const DIFFER = '≠';

function differing(differ: boolean) {
  return differ ? [{ value: DIFFER, words: t.value.designer.differ }] : [];
}

const STEPS: Readonly<Record<string, number>> = {
  ratio: 0.5,
  moduleDots: 1,
  maxLines: 1,
  columns: 1,
  rowHeight: 1,
  mode: 1,
  module: 0.05,
  thickness: 0.05,
  lineSpacing: 0.1,
  letterSpacing: 0.05,
};

/** An `ecLevel` is a number for PDF417 and Aztec, and a letter for QR codes. */
function written(name: string, text: string): unknown {
  if (text === '') return undefined;
  return name === 'ecLevel' && /^\d{1,2}$/.test(text)
    ? Number(text)
    : name === 'ecLevel'
      ? text.toUpperCase()
      : text;
}

type FontProps = { editor: Editor; label: string; value: unknown; differ: boolean; set: Setter };

function FontChoice(props: FontProps) {
  const { document: label } = props.editor.scene.value;
  const own = new Set((label.fonts ?? []).map(({ name }) => name));
  return (
    <ChoiceField
      label={props.label}
      value={props.differ ? DIFFER : String(props.value ?? 'condensed')}
      options={[
        ...differing(props.differ),
        ...['condensed', 'sans', ...own].map((font) => ({ value: font, words: optionWords(font) })),
      ]}
      onChoice={(font) => font !== DIFFER && props.set({ font })}
    />
  );
}

/** A field for the name of one of the template's pictures, or a placeholder for such a name. */
function PictureName({
  editor,
  label,
  value,
  set,
  hint,
}: {
  editor: Editor;
  label: string;
  value: unknown;
  set: Setter;
  hint: string | undefined;
}) {
  const { images = [] } = editor.scene.value.document;
  const id = useId();
  return (
    <Field label={label} hint={hint}>
      {(attributes) => (
        <>
          <input
            {...attributes}
            type="text"
            class="input"
            list={`${id}-names`}
            value={value === undefined ? '' : String(value)}
            onInput={({ currentTarget }) => set(shows(currentTarget.value), 'image')}
          />
          <datalist id={`${id}-names`}>
            {images.map(({ name }) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}

/** Shows a picture by name, which replaces the element's own picture. */
function shows(name: string): Readonly<Record<string, unknown>> {
  return name === '' ? { image: undefined } : { image: name, data: undefined };
}

function isWord<T extends object>(table: T, name: string): name is Extract<keyof T, string> {
  return Object.hasOwn(table, name);
}

function optionWords(option: string): string {
  const { option: table } = t.value.designer;
  return isWord(table, option) ? table[option] : option;
}

function memberOf(element: LabelElement, name: string): unknown {
  return new Map<string, unknown>(Object.entries(element)).get(name);
}

function hintOf(element: LabelElement, name: string): string | undefined {
  const { hint } = t.value.designer;
  if (name === 'when') return hint.when;
  if (name === 'image') return hint.image;
  if (element.type === 'barcode' && name === 'width') return hint.symbolWidth;
  if (element.type === 'text' && (name === 'width' || name === 'height')) return hint[name];
  return undefined;
}
