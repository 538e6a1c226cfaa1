/** Chooses a template by a picture of its label. */
import type { TemplateView } from '../../src/contract/admin.ts';
import { Dialog } from '../controls/dialog.tsx';
import { Gallery } from '../templates/gallery.tsx';
import { t } from '../texts/texts.ts';

type ByPictureProps = {
  templates: readonly TemplateView[];
  onChoice: (id: string) => void;
  onClose: () => void;
};

export function ByPicture({ templates, onChoice, onClose }: ByPictureProps) {
  const { general, print } = t.value;
  return (
    <Dialog title={print.byPictureTitle} large closes={general.close} onClose={onClose}>
      <Gallery
        templates={templates}
        about={({ id, name }) => (
          <button
            type="button"
            class="row-link"
            onClick={() => {
              onChoice(id);
              onClose();
            }}
          >
            {name}
          </button>
        )}
      />
    </Dialog>
  );
}
