/** Panels for what a template brings along: pictures to which elements refer by name, and fonts of its own. */
import { useSignal } from '@preact/signals';
import { LIMITS } from '../../src/contract/limits.ts';
import { base64Of } from '../controls/base64.ts';
import { Check, TextField } from '../controls/field.tsx';
import { FileField } from '../controls/file-field.tsx';
import { t } from '../texts/texts.ts';
import type { Editor } from './editor.ts';
import { PICTURE_FILES, pictureText } from './picture-file.ts';

/** The file's name without its ending: the name that a picture or font from the file gets at first. */
function stem(file: File): string {
  return file.name.replace(/\.[^.]*$/, '').slice(0, 100) || file.name.slice(0, 100);
}

export function Pictures({ editor }: { editor: Editor }) {
  const { designer: words } = t.value;
  const { images = [] } = editor.scene.value.document;
  const fault = useSignal<string | undefined>(undefined);
  const put = (next: typeof images, word?: string) =>
    editor.setLabel({ images: next.length === 0 ? undefined : next }, word);
  const take = async (file: File) => {
    const data = await pictureText(file);
    if (data === undefined) return;
    const taken = new Set(images.map(({ name }) => name));
    let name = stem(file);
    for (let number = 2; taken.has(name); number += 1) name = `${stem(file)} ${number}`;
    fault.value = put([...images, { name, data }]) ? undefined : words.pictureRefused(LIMITS.images);
  };
  return (
    <section class="stack tight" aria-label={words.pictures}>
      <h2 class="label">{words.pictures}</h2>
      <p class="muted small">{words.picturesHint}</p>
      {images.map((image, at) => (
        <div key={at} class="row resource">
          <TextField
            label={words.pictureName}
            value={image.name}
            maxLength={200}
            onText={(name) => void put(images.with(at, { ...image, name }), `image ${at}`)}
          />
          <button
            type="button"
            class="button"
            aria-label={words.about(words.remove, image.name)}
            onClick={() => void put(images.toSpliced(at, 1))}
          >
            {words.remove}
          </button>
        </div>
      ))}
      <FileField
        label={words.addPicture}
        hint={words.pictureHint}
        fault={fault.value}
        accept={PICTURE_FILES}
        onFile={(file) => void take(file)}
        oneMore
      />
    </section>
  );
}

export function Fonts({ editor }: { editor: Editor }) {
  const { designer: words } = t.value;
  const { fonts = [] } = editor.scene.value.document;
  const fault = useSignal<string | undefined>(undefined);
  const put = (next: typeof fonts, word?: string) =>
    editor.setLabel({ fonts: next.length === 0 ? undefined : next }, word);
  const take = async (file: File) => {
    if (file.size > LIMITS.fontBytes) {
      fault.value = words.fontTooLarge(Math.ceil(file.size / 1024), LIMITS.fontBytes / 1024);
      return;
    }
    const face = /bold/i.test(file.name) ? { bold: true } : {};
    const data = await base64Of(file);
    fault.value = put([...fonts, { name: stem(file), ...face, data }]) ? undefined : words.fontRefused;
  };
  return (
    <section class="stack tight" aria-label={words.fonts}>
      <h2 class="label">{words.fonts}</h2>
      <p class="muted small">{words.fontsHint}</p>
      {fonts.map((font, at) => (
        <fieldset key={at} class="stack tight">
          <legend class="unseen">{font.name}</legend>
          <TextField
            label={words.fontName}
            value={font.name}
            maxLength={100}
            onText={(name) => void put(fonts.with(at, { ...font, name }), `font ${at}`)}
          />
          <div class="row">
            {(['bold', 'italic'] as const).map((style) => (
              <Check
                key={style}
                label={words.property[style]}
                checked={font[style] === true}
                onCheck={(on) => void put(fonts.with(at, { ...font, [style]: on }))}
              />
            ))}
            <button
              type="button"
              class="button"
              aria-label={words.about(words.remove, font.name)}
              onClick={() => void put(fonts.toSpliced(at, 1))}
            >
              {words.remove}
            </button>
          </div>
        </fieldset>
      ))}
      <FileField
        label={words.addFont}
        hint={words.fontHint(LIMITS.fontBytes / 1024)}
        fault={fault.value}
        accept=".ttf,.otf,font/ttf,font/otf"
        onFile={(file) => void take(file)}
        oneMore
      />
    </section>
  );
}
