/** The page of one template: a large picture, its versions, its fields, and what uses it. */

import { templateUses } from '../../src/contract/template-versions.ts';
import { go, to } from '../address/place.ts';
import { CopyButton } from '../controls/copy.tsx';
import { Page, Shown } from '../controls/page.tsx';
import { ofTheTenant, useLive } from '../service/live.ts';
import { may, ofTenant } from '../service/session.ts';
import { t, when } from '../texts/texts.ts';
import { fieldsOf, type SavedTemplate, savedTemplate, sizeOf, sourceOf } from './saved-template.ts';
import { TemplateActions } from './template-actions.tsx';
import { TemplatePicture } from './template-picture.tsx';
import { Versions } from './versions.tsx';

const WIDTH = 1_200;

export function TemplatePage({ id }: { id: string }) {
  const { templates: words } = t.value;
  const path = ofTenant(`/templates/${encodeURIComponent(id)}`);
  const { live, reload } = useLive(savedTemplate, path, ofTheTenant);
  return (
    <Page
      title={live.data?.name ?? words.title}
      crumb={{ words: words.title, href: to(['templates']) }}
      actions={
        live.data && (
          <>
            {may('templates:edit') && live.data.language === 'platen' && (
              <a class="button" href={to(['templates', id, 'design'])}>
                {t.value.designer.edit}
              </a>
            )}
            {may('jobs:act') && (
              <a class="button primary" href={to(['print'], { template: id })}>
                {words.print}
              </a>
            )}
            <TemplateActions template={live.data} onDone={reload} onGone={() => go(['templates'])} />
          </>
        )
      }
    >
      <Shown of={live} onRetry={reload}>
        {(saved) => (
          <div class="split">
            <div class="stack wide">
              <div class="card stage-large">
                <TemplatePicture template={saved} width={WIDTH} />
              </div>
              <Source saved={saved} />
              <Versions id={id} changed={saved.updatedAt} onRestored={reload} />
            </div>
            <div class="stack wide">
              {saved.draft && <p class="note warn">{words.hasDraft(when(saved.draft.at))}</p>}
              <Facts saved={saved} />
              <Fields saved={saved} />
              <Uses id={id} />
            </div>
          </div>
        )}
      </Shown>
    </Page>
  );
}

/** How many jobs have lately printed the template, and at which printers. */
function Uses({ id }: { id: string }) {
  const { uses: words } = t.value.templates;
  const path = ofTenant(`/templates/${encodeURIComponent(id)}/uses`);
  const { live } = useLive(templateUses, path, (change) => change.jobs.length > 0);
  if (live.data === undefined) return null;
  const { days, jobs, more, printers } = live.data;
  return (
    <section class="stack tight">
      <h2>{words.title}</h2>
      <p class="muted small">{jobs === 0 ? words.none(days) : words.jobs(jobs, more, days)}</p>
      <ul>
        {printers.map((printer) => (
          <li key={printer.id} class="row spread">
            <a class="anywhere" href={to(['printers', printer.id])}>
              {printer.name}
            </a>
            <span class="small muted">
              {words.printer(printer.jobs)}, {when(printer.last)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Facts({ saved }: { saved: SavedTemplate }) {
  const { templates: words, general } = t.value;
  const size = sizeOf(saved);
  return (
    <dl class="facts">
      <dt>{words.size}</dt>
      <dd>{size === undefined ? words.sizeUnsaid : general.mm(size.width, size.height)}</dd>
      <dt>{words.kind}</dt>
      <dd>{{ zpl: words.raw, platen: words.designed, document: words.document }[saved.language]}</dd>
      <dt>{words.id}</dt>
      <dd class="row">
        <code class="anywhere">{saved.id}</code>
        <CopyButton text={saved.id} about={words.id} />
      </dd>
      <dt>{words.changedAt}</dt>
      <dd>{when(saved.updatedAt)}</dd>
      <dt>{t.value.jobs.title}</dt>
      <dd>
        <a href={to(['jobs'], { template: saved.name })}>{words.jobs}</a>
      </dd>
    </dl>
  );
}

/** The source of a template that is a program: what is sent to the printer, with placeholders. */
function Source({ saved }: { saved: SavedTemplate }) {
  const source = sourceOf(saved);
  if (source === undefined) return null;
  return (
    <section class="stack tight">
      <h2>{t.value.templates.source}</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard */}
      <pre class="card source" tabIndex={0}>
        {source}
      </pre>
    </section>
  );
}

function Fields({ saved }: { saved: SavedTemplate }) {
  const { templates: words } = t.value;
  const fields = fieldsOf(saved);
  if (fields.length === 0) return null;
  return (
    <section class="stack tight">
      <h2>{words.values}</h2>
      <div class="card flush table-scroll">
        <table>
          <thead>
            <tr>
              <th>{words.field}</th>
              <th>{words.sampleOf}</th>
              <th>{words.defaultOf}</th>
            </tr>
          </thead>
          <tbody>
            {fields.map((field) => (
              <tr key={field.name}>
                <td>{field.name}</td>
                <td class="muted">{field.sample}</td>
                <td class="muted">{field.default}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
