/** What the dialogs about a job share: the path of an action, and the field for the reason. */
import { useSignal } from '@preact/signals';
import type { JobDetails } from '../../src/contract/job-details.ts';
import { TextField } from '../controls/field.tsx';
import type { Attempts } from '../service/attempts.ts';
import { t } from '../texts/texts.ts';

export type ActionProps = { job: JobDetails; onDone: () => void };
export type QuestionProps = ActionProps & { attempts: Attempts; onClose: () => void };

export function actionPath(job: JobDetails, action: string): string {
  return `/jobs/${encodeURIComponent(job.id)}/${action}`;
}

/** The field in which somebody can say why they decide so, and its text for the request. */
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
