/** The printer that jobs go to: those that print now and have the media come first; of others it is said why they do not. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { z } from 'zod';
import type { JobView } from '../../src/contract/job.ts';
import { type PrinterDetails, printerDetails } from '../../src/contract/printer-actions.ts';
import { ChoiceField } from '../controls/field.tsx';
import { Problem } from '../controls/problem.tsx';
import { whyStill } from '../controls/still-words.ts';
import { call } from '../service/call.ts';
import { mayPrintOn } from '../service/session.ts';
import { misfitOf } from '../templates/label-fit.ts';
import { type SavedTemplate, savedTemplate } from '../templates/saved-template.ts';
import { mediaWords, t } from '../texts/texts.ts';

/** What is known of a job beforehand. */
export type Made = Pick<JobView, 'tenant' | 'template' | 'orientation'>;

/** Most templates that are looked at before a printer is chosen: of many jobs the service says how many fit where. */
const MOST = 8;

type Target = Pick<PrinterDetails, 'id' | 'name'> & {
  /** The sizes of its media, in words. */
  media: string;
  fits: boolean;
  /** Why nothing comes out of it now. */
  still: string | undefined;
};

type Found = {
  /** undefined: the service has not answered. */
  targets: readonly Target[] | undefined;
  problem: Error | undefined;
  /** The ID of the first that prints now and has the media, or nothing. */
  ready: string;
};

/**
 * The printers as they are when this is asked: none changes its place while somebody chooses.
 * @param made undefined: no printer is wanted
 * @param first the printer that stands first, however it is
 */
export function useTargets(
  made: readonly Made[] | undefined,
  { except, first }: { except?: string; first?: string } = {},
): Found {
  const found = useSignal<Found>({ targets: undefined, problem: undefined, ready: '' });
  useEffect(() => {
    if (made === undefined) return;
    const stop = new AbortController();
    const ask = async () => {
      const [printers, labels] = await Promise.all([
        call(z.array(printerDetails), '/printers', { signal: stop.signal }),
        labelsOf(made, stop.signal),
      ]);
      const targets = printers
        .filter(
          (one) => one.id === first || (!one.hidden && !one.gone && mayPrintOn(one) && one.id !== except),
        )
        .map((one): Target => {
          const fits = labels.every(({ template, orientation }) =>
            one.formats.some((format) => misfitOf(template, orientation, format) === undefined),
          );
          return { id: one.id, name: one.name, media: mediaWords(one.formats), fits, still: whyStill(one) };
        });
      const rank = ({ id, still, fits }: Target) =>
        id === first ? -1 : (still === undefined ? 0 : 2) + (fits ? 0 : 1);
      targets.sort((a, b) => rank(a) - rank(b));
      const ready = targets.find((one) => rank(one) === 0)?.id ?? '';
      found.value = { targets, problem: undefined, ready };
    };
    ask().catch((error: unknown) => {
      if (stop.signal.aborted) return;
      found.value = { ...found.value, problem: error instanceof Error ? error : new Error(String(error)) };
    });
    return () => stop.abort();
  }, []);
  return found.value;
}

/** The labels of these jobs, as their templates are now; none of a template that is gone, or that one may not see. */
async function labelsOf(made: readonly Made[], signal: AbortSignal) {
  const paths = new Set(
    made.map(
      ({ tenant, template }) =>
        `/tenants/${encodeURIComponent(tenant)}/templates/${encodeURIComponent(template.id)}`,
    ),
  );
  const answers = await Promise.allSettled(
    [...paths].slice(0, MOST).map((path) => call(savedTemplate, path, { signal })),
  );
  const templates = new Map<string, SavedTemplate>(
    answers.flatMap((answer) => (answer.status === 'fulfilled' ? [[answer.value.id, answer.value]] : [])),
  );
  return made.flatMap(({ template: { id }, orientation }) => {
    const template = templates.get(id);
    return template === undefined ? [] : [{ template, orientation }];
  });
}

type TargetProps = {
  found: Found;
  value: string;
  /** Whether the labels fit is said elsewhere. */
  quiet?: boolean;
  onChoice: (id: string) => void;
};

/** The choice, and what is to be known of the printer that is chosen. */
export function TargetChoice({ found: { targets, problem }, value, quiet = false, onChoice }: TargetProps) {
  const { job: words, print, general } = t.value;
  if (problem !== undefined) return <Problem problem={problem} />;
  // It is there at once, where the dialog's focus goes.
  if (targets === undefined) {
    const loading = { value: '', words: general.loading };
    return <ChoiceField label={words.moveTo} value="" options={[loading]} onChoice={() => {}} />;
  }
  if (targets.length === 0) return <p>{words.moveNone}</p>;
  const chosen = targets.find(({ id }) => id === value);
  const options = targets.map(({ id, name, still, fits, media }) => ({
    value: id,
    words: [name, ...(still === undefined ? [] : [still]), ...(fits ? [] : [words.otherMedia(media)])].join(
      ' · ',
    ),
  }));
  return (
    <>
      <ChoiceField
        label={words.moveTo}
        value={chosen?.id ?? ''}
        options={chosen === undefined ? [{ value: '', words: print.choose }, ...options] : options}
        onChoice={onChoice}
      />
      {chosen?.still !== undefined && <p class="note warn">{words.targetStill(chosen.name, chosen.still)}</p>}
      {chosen?.fits === false && !quiet && (
        <p class="note warn">{words.targetMisfit(chosen.name, chosen.media)}</p>
      )}
    </>
  );
}
