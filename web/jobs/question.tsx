/** What the dialogs about a job have in common: why, and which printer. */
import { useSignal } from '@preact/signals';
import { z } from 'zod';
import type { JobDetails } from '../../src/contract/job-details.ts';
import { printerView } from '../../src/contract/printer-view.ts';
import { TextField } from '../controls/field.tsx';
import type { Attempts } from '../service/attempts.ts';
import { useLive } from '../service/live.ts';
import { mediaWords, t } from '../texts/texts.ts';

export type ActionProps = { job: JobDetails; onDone: () => void };
export type QuestionProps = ActionProps & { attempts: Attempts; onClose: () => void };

export function actionPath(job: JobDetails, action: string): string {
  return `/jobs/${encodeURIComponent(job.id)}/${action}`;
}

/** The field for why somebody decides so, and what it says. */
export function useWhy() {
  const why = useSignal('');
  const field = (
    <TextField
      label={t.value.general.why}
      maxLength={500}
      value={why.value}
      onText={(text) => {
        why.value = text;
      }}
    />
  );
  return { field, why: () => (why.value.trim() === '' ? {} : { why: why.value.trim() }) };
}

/** The other printers as options, and why the job's labels do not fit the media of one of them. */
export function useOtherPrinters(job: JobDetails) {
  const { live } = useLive(z.array(printerView), '/printers', () => false);
  const all = live.data ?? [];
  const others = all
    .filter(({ id, hidden }) => id !== job.printer.id && !hidden)
    .map(({ id, name }) => ({ value: id, words: name }));
  const media = (target: string) => {
    const own = all.find(({ id }) => id === job.printer.id)?.formats.find(({ name }) => name === job.format);
    const there = all.find(({ id }) => id === target);
    if (own === undefined || there === undefined) return null;
    const size = t.value.general.mm(own.width, own.height);
    if (there.formats.some(({ width, height }) => t.value.general.mm(width, height) === size)) return null;
    return <p class="note warn">{t.value.job.otherMedia(there.name, mediaWords(there.formats), size)}</p>;
  };
  return { others, media };
}
