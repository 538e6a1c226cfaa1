/** The menu of actions on a template: edit, rename, duplicate, export, delete. */
import { useSignal } from '@preact/signals';
import { z } from 'zod';
import { type TemplateView, templateView } from '../../src/contract/admin.ts';
import { go } from '../address/place.ts';
import { AskName, AskToEnd } from '../controls/asks.tsx';
import { Menu } from '../controls/menu.tsx';
import { sayProblem } from '../controls/problem.tsx';
import { sets } from '../controls/sets.ts';
import { call } from '../service/call.ts';
import { may, ofTenant } from '../service/session.ts';
import { t } from '../texts/texts.ts';
import { freeName } from './free-name.ts';
import { savedTemplate } from './saved-template.ts';

type Props = { template: TemplateView; onDone: () => void; onGone?: () => void };

const path = (id: string, what = '') => ofTenant(`/templates/${encodeURIComponent(id)}${what}`);
const body = z.record(z.string(), z.unknown());

export function TemplateActions({ template, onDone, onGone }: Props) {
  const { templates: words } = t.value;
  const asked = useSignal<'rename' | 'delete' | null>(null);
  const close = sets(asked, null);
  const said = (work: () => Promise<void>) => () => {
    work().catch((error: unknown) => sayProblem(error));
  };
  const duplicate = async () => {
    const saved = await call(savedTemplate, path(template.id));
    const name = await freeName(words.copyOf(template.name));
    await call(templateView, ofTenant('/templates'), { body: { ...body.parse(saved.template), name } });
    onDone();
  };
  const edits = [
    // The designer cannot edit raw ZPL: people change it in the program that wrote it.
    ...(template.language === 'platen'
      ? [{ words: t.value.designer.edit, onPick: () => go(['templates', template.id, 'design']) }]
      : []),
    {
      words: words.rename,
      onPick: () => {
        asked.value = 'rename';
      },
    },
    { words: words.duplicate, onPick: said(duplicate) },
  ];
  const end = {
    words: words.delete,
    bad: true,
    onPick: () => {
      asked.value = 'delete';
    },
  };
  const download = { words: words.export, onPick: said(() => exportFile(template)) };
  return (
    <>
      <Menu about={template.name} items={may('templates:edit') ? [...edits, download, end] : [download]} />
      {asked.value === 'rename' && (
        <AskName
          title={words.renameTitle}
          label={words.name}
          now={template.name}
          path={path(template.id, '/name')}
          said={words.renamed}
          onDone={onDone}
          onClose={close}
        />
      )}
      {asked.value === 'delete' && (
        <AskToEnd
          title={words.deleteTitle(template.name)}
          action={words.delete}
          says={words.deleteSays}
          path={path(template.id)}
          said={words.deleted}
          onDone={onGone ?? onDone}
          onClose={close}
        />
      )}
    </>
  );
}

async function exportFile(template: TemplateView): Promise<void> {
  const saved = await call(savedTemplate, path(template.id));
  const blob = new Blob([`${JSON.stringify(saved.template, null, 2)}\n`], { type: 'application/json' });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = `${template.name.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-').slice(0, 80) || 'template'}.json`;
  link.click();
  URL.revokeObjectURL(link.href);
}
