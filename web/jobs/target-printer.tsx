/** Chooses the printer that jobs go to. Those that can print now and have the media come first; the others say why they cannot. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { z } from 'zod';
import type { JobView } from '../../src/contract/job.ts';
import { type PrinterDetails, printerDetails } from '../../src/contract/printer-actions.ts';
import { ChoiceField } from '../controls/field.tsx';
import { Problem } from '../controls/problem.tsx';
import { whyStill } from '../controls/still-words.ts';
import { call, errorOf } from '../service/call.ts';
import { mayPrintOn } from '../service/session.ts';
import { misfitOf } from '../templates/label-fit.ts';
import { type SavedTemplate, savedTemplate } from '../templates/saved-template.ts';
import { mediaWords, t } from '../texts/texts.ts';

/** What is known of a job before it is moved or printed again. */
export type Made = Pick<JobView, 'tenant' | 'template' | 'orientation'>;

/** At most so many templates are looked at before a printer is chosen. Of more jobs, the service's dry run says how many fit. */
const MOST = 8;

type Target = Pick<PrinterDetails, 'id' | 'name'> & {
  /** The sizes of the printer's media, in words. */
  media: string;
  fits: boolean;
  /** Why nothing comes out of the printer now; undefined: it prints, or can print. */
  still: string | undefined;
};

type Found = {
  /** undefined: the service has not answered yet. */
  targets: readonly Target[] | undefined;
  problem: Error | undefined;
  /** The ID of the first printer that can print now and has the media; empty if there is none. */
  ready: string;
};

/**
 * Asks for the printers once, so that none changes its place while somebody chooses.
 * @param made the jobs; undefined: no printer is needed
 * @param first the ID of the printer that comes first, whatever its state
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
      found.value = { ...found.value, problem: errorOf(error) };
    });
    return () => stop.abort();
  }, []);
  return found.value;
}

/** The labels of these jobs, as their templates are now. Templates that are gone, or that the person may not see, are left out. */
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
  /** The caller itself says whether the labels fit. */
  quiet?: boolean;
  onChoice: (id: string) => void;
};

/** The choice, and what people should know of the chosen printer. */
export function TargetChoice({ found: { targets, problem }, value, quiet = false, onChoice }: TargetProps) {
  const { job: words, print, general } = t.value;
  if (problem !== undefined) return <Problem problem={problem} />;
  // The field is there from the start, because it is where the dialog puts the focus.
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
