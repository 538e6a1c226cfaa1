/** The picture of a saved template with the samples of its fields, requested once for each version. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { TemplateView } from '../../src/contract/admin.ts';
import { wordsOf } from '../controls/problem.tsx';
import { errorOf } from '../service/call.ts';
import { may } from '../service/session.ts';
import { t } from '../texts/texts.ts';
import { drawInTurn, pngAddress } from './preview.ts';

/** At most so many pictures are kept until the page is reloaded: about as many as a gallery has. */
const MOST = 200;
/** The width of a picture in a row, in dots. */
const THUMB = 80;
const drawn = new Map<string, string | null>();

type Pictured = Pick<TemplateView, 'id' | 'updatedAt'>;

/** The picture, in base64; undefined: not there yet; null: the samples cannot be printed; Error: why there is no answer. */
export type Found = string | null | undefined | Error;

function useTemplatePicture(template: Pictured, width: number): Found {
  const key = `${template.id} ${template.updatedAt} ${width}`;
  const found = useSignal<Found>(drawn.get(key));
  const sees = may('labels:read');
  useEffect(() => {
    found.value = drawn.get(key);
    if (found.value !== undefined || !sees) return;
    const stop = new AbortController();
    drawInTurn({ templateId: template.id, width }, stop.signal).then(
      ({ png }) => {
        if (drawn.size >= MOST) drawn.delete(drawn.keys().next().value ?? '');
        drawn.set(key, png);
        found.value = png;
      },
      (error: unknown) => {
        if (!stop.signal.aborted) found.value = errorOf(error);
      },
    );
    return () => stop.abort();
  }, [key, sees]);
  return found.value;
}

export function TemplatePicture({ template, width }: { template: TemplateView; width: number }) {
  const found = useTemplatePicture(template, width);
  if (!may('labels:read')) return <span class="muted small">{t.value.job.noSight}</span>;
  return <SamplePicture found={found} name={template.name} />;
}

/** A small picture to stand beside the name of a template; nothing if there is no picture. */
export function TemplateThumb({ id }: { id: string }) {
  // A list does not know the templates' versions, so the picture is as new as the page.
  const found = useTemplatePicture({ id, updatedAt: '' }, THUMB);
  return typeof found === 'string' ? <img class="paper" src={pngAddress(found)} alt="" /> : null;
}

export function SamplePicture({ found, name }: { found: Found; name: string }) {
  const { templates: words, general } = t.value;
  if (typeof found === 'string')
    return <img class="paper" src={pngAddress(found)} alt={words.picture(name)} />;
  const says = found === undefined ? general.loading : found === null ? words.noPicture : wordsOf(found);
  return <span class="muted small">{says}</span>;
}
