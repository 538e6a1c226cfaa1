/** Templates by their pictures, found by a part of their names. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { TemplateView } from '../../src/contract/admin.ts';
import { typed } from '../controls/field.tsx';
import { SearchField } from '../controls/search-field.tsx';
import { t } from '../texts/texts.ts';
import { TemplatePicture } from './template-picture.tsx';

/** The width of a picture, in dots. */
const WIDTH = 400;

type GalleryProps = {
  templates: readonly TemplateView[];
  /** What stands below a template's picture. */
  about: (template: TemplateView) => ComponentChildren;
};

export function Gallery({ templates, about }: GalleryProps) {
  const { templates: words } = t.value;
  const search = useSignal('');
  const wanted = search.value.trim().toLocaleLowerCase();
  const found = templates.filter(({ name }) => name.toLocaleLowerCase().includes(wanted));
  return (
    <>
      <search class="filters">
        <SearchField label={words.search} {...typed(search)} />
      </search>
      {found.length === 0 && <p class="muted">{words.noneFits}</p>}
      <ul class="gallery">
        {found.map((template) => (
          <li key={template.id} class="tile">
            <div class="stage">
              <TemplatePicture template={template} width={WIDTH} />
            </div>
            <div class="about">{about(template)}</div>
          </li>
        ))}
      </ul>
    </>
  );
}
