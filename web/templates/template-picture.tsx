/** A saved template's picture with the samples of its fields, requested once for each version. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { TemplateView } from '../../src/contract/admin.ts';
import { t } from '../texts/texts.ts';
import { drawInTurn, pngAddress } from './preview.ts';

/** Most pictures that are kept until the page is reloaded; a gallery has about as many. */
const MOST = 200;
const drawn = new Map<string, string | null>();

export function TemplatePicture({ template, width }: { template: TemplateView; width: number }) {
  const { templates: words, general } = t.value;
  const key = `${template.id} ${template.updatedAt} ${width}`;
  const png = useSignal(drawn.get(key));
  useEffect(() => {
    png.value = drawn.get(key);
    if (png.value !== undefined) return;
    const stop = new AbortController();
    drawInTurn({ templateId: template.id, width }, stop.signal).then(
      (preview) => {
        if (drawn.size >= MOST) drawn.delete(drawn.keys().next().value ?? '');
        drawn.set(key, preview.png);
        png.value = preview.png;
      },
      () => {
        if (!stop.signal.aborted) png.value = null;
      },
    );
    return () => stop.abort();
  }, [key]);
  if (png.value === undefined) return <span class="muted small">{general.loading}</span>;
  if (png.value === null) return <span class="muted small">{words.noPicture}</span>;
  return <img class="paper" src={pngAddress(png.value)} alt={words.picture(template.name)} />;
}
