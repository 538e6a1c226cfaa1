/** Chooses a template by a picture of its label. */
import { useSignal } from '@preact/signals';
import type { TemplateView } from '../../src/contract/admin.ts';
import { Dialog } from '../controls/dialog.tsx';
import { typed } from '../controls/field.tsx';
import { SearchField } from '../controls/search-field.tsx';
import { TemplatePicture } from '../templates/template-picture.tsx';
import { t } from '../texts/texts.ts';

/** Width of a picture in dots. It is that of the page Templates, so that pictures drawn there are shown at once. */
const WIDTH = 400;

type ByPictureProps = {
  templates: readonly TemplateView[];
  onChoice: (id: string) => void;
  onClose: () => void;
};

export function ByPicture({ templates, onChoice, onClose }: ByPictureProps) {
  const { templates: words, general, print } = t.value;
  const search = useSignal('');
  const wanted = search.value.trim().toLocaleLowerCase();
  const found = templates.filter(({ name }) => name.toLocaleLowerCase().includes(wanted));
  return (
    <Dialog title={print.byPictureTitle} large onClose={onClose}>
      <SearchField label={words.search} {...typed(search)} />
      {found.length === 0 && <p class="muted">{words.noneFits}</p>}
      <ul class="gallery">
        {found.map((template) => (
          <li key={template.id} class="tile">
            <div class="stage">
              <TemplatePicture template={template} width={WIDTH} />
            </div>
            <div class="about">
              <button
                type="button"
                class="row-link"
                onClick={() => {
                  onChoice(template.id);
                  onClose();
                }}
              >
                {template.name}
              </button>
            </div>
          </li>
        ))}
      </ul>
      <div class="row end">
        <button type="button" class="button" onClick={onClose}>
          {general.close}
        </button>
      </div>
    </Dialog>
  );
}
