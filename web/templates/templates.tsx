/** The page of all templates: a gallery of their pictures, with a search by name. */
import { useSignal } from '@preact/signals';
import { z } from 'zod';
import { templateView } from '../../src/contract/admin.ts';
import { to } from '../address/place.ts';
import { Icon } from '../controls/icon.tsx';
import { Opens } from '../controls/opens.tsx';
import { Empty, Page, Shown } from '../controls/page.tsx';
import { sets } from '../controls/sets.ts';
import { ofTheTenant, useLive } from '../service/live.ts';
import { may, ofTenant } from '../service/session.ts';
import { t, when } from '../texts/texts.ts';
import { Gallery } from './gallery.tsx';
import { ImportDialog } from './import-dialog.tsx';
import { TemplateActions } from './template-actions.tsx';

export function Templates() {
  const { templates: words } = t.value;
  const { live, reload } = useLive(z.array(templateView), ofTenant('/templates'), ofTheTenant);
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
        {(list) =>
          list.length === 0 ? (
            <Empty icon="templates" title={words.empty} hint={words.emptyHint}>
              <div class="row">
                {newLink}
                {importButton}
              </div>
            </Empty>
          ) : (
            <Gallery
              templates={list}
              about={(template) => (
                <>
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
                </>
              )}
            />
          )
        }
      </Shown>
      {importing.value && <ImportDialog onClose={sets(importing, false)} onDone={reload} />}
    </Page>
  );
}
