/** The page of all templates: a gallery of their pictures, with a search by name. */
import { useSignal } from '@preact/signals';
import { z } from 'zod';
import { templateView } from '../../src/contract/admin.ts';
import { to } from '../address/place.ts';
import { typed } from '../controls/field.tsx';
import { Icon } from '../controls/icon.tsx';
import { Opens } from '../controls/opens.tsx';
import { Empty, Page, Shown } from '../controls/page.tsx';
import { SearchField } from '../controls/search-field.tsx';
import { ofTheTenant, useLive } from '../service/live.ts';
import { may, ofTenant } from '../service/session.ts';
import { t, when } from '../texts/texts.ts';
import { ImportDialog } from './import-dialog.tsx';
import { TemplateActions } from './template-actions.tsx';
import { TemplatePicture } from './template-picture.tsx';

const WIDTH = 400;

export function Templates() {
  const { templates: words } = t.value;
  const { live, reload } = useLive(z.array(templateView), ofTenant('/templates'), ofTheTenant);
  const search = useSignal('');
  const importing = useSignal(false);
  const newLink = may('templates:edit') && (
    <a class="button primary" href={to(['templates', 'new'])}>
      {t.value.designer.create}
    </a>
  );
  const importButton = may('templates:edit') && (
    <Opens what={importing}>
      <Icon name="upload" />
      {words.import}
    </Opens>
  );
  return (
    <Page
      title={words.title}
      actions={
        <>
          {importButton}
          {newLink}
        </>
      }
    >
      <Shown of={live} onRetry={reload}>
        {(list) => {
          if (list.length === 0)
            return (
              <Empty icon="templates" title={words.empty} hint={words.emptyHint}>
                <div class="row">
                  {newLink}
                  {importButton}
                </div>
              </Empty>
            );
          const wanted = search.value.trim().toLocaleLowerCase();
          const found = list.filter(({ name }) => name.toLocaleLowerCase().includes(wanted));
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
                    <div class="about">
                      <a class="row-link anywhere" href={to(['templates', template.id])}>
                        {template.name}
                      </a>
                      <div class="small muted">
                        {words.fields(template.fields.length)} · {words.changed(when(template.updatedAt))}
                      </div>
                      <div class="row spread">
                        {may('jobs:act') ? (
                          <a
                            class="button"
                            href={to(['print'], { template: template.id })}
                            aria-label={`${words.print}: ${template.name}`}
                          >
                            {words.print}
                          </a>
                        ) : (
                          <span />
                        )}
                        <TemplateActions template={template} onDone={reload} />
                      </div>
                    </div>
                  </li>
                ))}
              </ul>
            </>
          );
        }}
      </Shown>
      {importing.value && (
        <ImportDialog
          onClose={() => {
            importing.value = false;
          }}
          onDone={reload}
        />
      )}
    </Page>
  );
}
