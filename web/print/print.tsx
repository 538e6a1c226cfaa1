/** The page Print: choose a template and a printer, fill in values, see the label, print. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { z } from 'zod';
import { templateView } from '../../src/contract/admin.ts';
import { kept } from '../address/kept.ts';
import { go, place, refine, to } from '../address/place.ts';
import { ChoiceField, TextField, typed } from '../controls/field.tsx';
import { Empty, Page, Shown } from '../controls/page.tsx';
import { sets } from '../controls/sets.ts';
import { stateOf } from '../controls/still-words.ts';
import { say } from '../controls/toast.tsx';
import { reasonsInWords } from '../jobs/wait-words.ts';
import { nameAndPlace, type Printer, printerList } from '../printers/printer-words.tsx';
import { Attempts } from '../service/attempts.ts';
import { ofTheTenant, useLive } from '../service/live.ts';
import { jobLimits, may, mayPrintOn, ofTenant } from '../service/session.ts';
import { fieldsOf, type SavedTemplate, savedTemplate } from '../templates/saved-template.ts';
import { formatWords, mediaWords, t } from '../texts/texts.ts';
import { ByFile } from './by-file.tsx';
import { ByHand } from './by-hand.tsx';
import { ByPicture } from './by-picture.tsx';
import { ByTable } from './by-table.tsx';
import { misfitWords, useMediaFit } from './media-fit.tsx';
import { Progress } from './progress.tsx';
import type { Route } from './request.ts';

/** The last choices at this workstation; they are preselected the next time. */
const lastTemplate = kept('print.template');
const lastPrinter = kept('print.printer');

export function Print() {
  const { print: words } = t.value;
  const templates = useLive(z.array(templateView), ofTenant('/templates'), ofTheTenant);
  const printers = useLive(printerList, '/printers');
  const { query } = place.value;
  const found = { templates: templates.live.data, printers: printers.live.data };
  const template = chosen(found.templates, query.get('template') ?? lastTemplate.value);
  const asked = query.get('printer');
  const usable = found.printers?.filter(
    (one) => !one.gone && mayPrintOn(one) && (!one.hidden || one.id === asked),
  );
  const printer = chosen(usable, asked ?? lastPrinter.value) ?? only(usable);
  const saved = useLive(
    savedTemplate,
    template === undefined ? null : ofTenant(`/templates/${encodeURIComponent(template.id)}`),
    ofTheTenant,
  );
  // While the chosen template is loading, the one before it is not shown: somebody could print it by mistake.
  const isOther = saved.live.data !== undefined && saved.live.data.id !== template?.id;
  const filled = isOther ? { ...saved.live, data: undefined } : saved.live;
  const byPicture = useSignal(false);
  const choose = (id: string) => {
    lastTemplate.keep(id);
    refine({ template: id });
  };
  const job = query.get('job');
  // The job is in the address, so that a reload keeps it and a click on Print in the navigation drops it.
  const follow = (id: string | undefined) => go(['print'], { ...Object.fromEntries(query), job: id });
  if (job !== null) {
    return (
      <Page title={words.title}>
        <Progress key={job} job={job} onAnother={() => follow(undefined)} />
      </Page>
    );
  }
  return (
    <Page title={words.title}>
      <Shown of={templates.live} onRetry={templates.reload}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon="templates" title={words.noTemplates} hint={t.value.templates.emptyHint}>
              <a class="button" href={to(['templates'])}>
                {t.value.start.toTemplates}
              </a>
            </Empty>
          ) : (
            <Shown of={printers.live} onRetry={printers.reload}>
              {() =>
                usable === undefined || usable.length === 0 ? (
                  <Empty icon="printers" title={words.noPrinters} hint={t.value.printers.emptyHint} />
                ) : (
                  <>
                    <div class="choices">
                      <div class="stack hair">
                        <ChoiceField
                          label={words.template}
                          value={template?.id ?? ''}
                          options={options(list, template)}
                          onChoice={choose}
                        />
                        {list.length > 1 && may('labels:read') && (
                          <button type="button" class="link" onClick={sets(byPicture, true)}>
                            {words.byPicture}
                          </button>
                        )}
                      </div>
                      <ChoiceField
                        label={words.printer}
                        value={printer?.id ?? ''}
                        hint={printer && mediaWords(printer.formats)}
                        options={options(
                          usable.map((one) => ({ id: one.id, name: nameAndPlace(one) })),
                          printer,
                        )}
                        onChoice={(id) => {
                          lastPrinter.keep(id);
                          refine({ printer: id });
                        }}
                      />
                    </div>
                    {byPicture.value && (
                      <ByPicture templates={list} onChoice={choose} onClose={sets(byPicture, false)} />
                    )}
                    {printer !== undefined && <Beforehand printer={printer} />}
                    {template !== undefined && printer !== undefined && (
                      <Shown of={filled} onRetry={saved.reload}>
                        {(one) => (
                          <Filling
                            key={one.id}
                            template={one}
                            printer={printer}
                            printers={usable}
                            onPrinter={(id) => {
                              lastPrinter.keep(id);
                              refine({ printer: id });
                            }}
                            onSent={(id) => {
                              lastTemplate.keep(one.id);
                              lastPrinter.keep(printer.id);
                              follow(id);
                            }}
                          />
                        )}
                      </Shown>
                    )}
                  </>
                )
              }
            </Shown>
          )
        }
      </Shown>
    </Page>
  );
}

function chosen<T extends { id: string }>(list: readonly T[] | undefined, id: string): T | undefined {
  return list?.find((one) => one.id === id);
}

function only<T>(list: readonly T[] | undefined): T | undefined {
  return list?.length === 1 ? list[0] : undefined;
}

function options(list: readonly { id: string; name: string }[], now: { id: string } | undefined) {
  const rows = list.map(({ id, name }) => ({ value: id, words: name }));
  return now === undefined ? [{ value: '', words: t.value.print.choose }, ...rows] : rows;
}

/** Warns, before anything is printed, that the printer cannot print now, is on hold, or has jobs waiting. */
function Beforehand({ printer }: { printer: Printer }) {
  const { print: words, printers } = t.value;
  const { reasons, name, held, jobs } = printer;
  const status = stateOf(printer);
  const cannot = status === 'offline' || status === 'stopped';
  const before = jobs.queued + jobs.printing;
  if (!cannot && held === null && before === 0) return null;
  const why = reasons.length > 0 ? reasonsInWords(reasons) : printers[status];
  return (
    <div class={cannot || held !== null ? 'note warn' : 'note'}>
      {cannot && <p>{words.offline(name, why)}</p>}
      {held !== null && <p>{words.onHold(name)}</p>}
      {before > 0 && <p>{words.lane(before)}</p>}
    </div>
  );
}

type FillingProps = {
  template: SavedTemplate;
  printer: Printer;
  printers: readonly Printer[];
  onPrinter: (id: string) => void;
  onSent: (job: string) => void;
};

/** Where the values of the labels come from. */
const WAYS = ['byHand', 'byTable', 'byFile'] as const;

/** Chooses format, orientation and copies, and where the values come from. */
function Filling({ template, printer, printers, onPrinter, onSent }: FillingProps) {
  const { print: words, job } = t.value;
  const formats = printer.formats.filter(({ language }) => template.language !== 'zpl' || language === 'zpl');
  const offered = formats.length > 0 ? formats : printer.formats;
  const chosenFormat = useSignal('');
  const orientation = useSignal<'portrait' | 'landscape'>('portrait');
  // While values are typed, another printer may be chosen, or its formats may change: then the first format that fits is taken.
  const format =
    chosen(offered, chosenFormat.value) ??
    offered.find((one) => misfitWords(template, orientation.value, one) === undefined) ??
    offered[0];
  const fit = useMediaFit({ template, orientation: orientation.value, format, printers, onPrinter });
  const copies = useSignal('1');
  const way = useSignal<(typeof WAYS)[number]>('byHand');
  const cells = useSignal<readonly (readonly string[])[]>([]);
  const fields = fieldsOf(template);
  const count = Number(copies.value);
  const whole = Number.isInteger(count) && count > 0;
  const attempts = useMemo(() => new Attempts(), []);
  const left = useRef(false);
  useEffect(
    () => () => {
      left.current = true;
    },
    [],
  );
  // If the answer arrives after the person has gone to another page, a message there says so; nobody is taken back here.
  const sent = (id: string) => {
    if (!left.current) onSent(id);
    else
      say(
        <>
          {words.sent} <a href={to(['jobs', id])}>{job.open}</a>
        </>,
      );
  };
  const route: Route = {
    idT: template.id,
    printerId: printer.id,
    ...(format === undefined ? {} : { format: format.id }),
    orientation: orientation.value,
    numberCopies: whole ? count : 1,
    dpi: format?.dpi ?? 203,
    version: template.updatedAt,
  };
  const each = { route, ready: whole, attempts, agrees: fit.agrees, onSent: sent };
  return (
    <div class="stack wide">
      <div class="choices">
        {printer.formats.length > 1 && (
          <ChoiceField
            label={words.format}
            value={format?.id ?? ''}
            options={offered.map(({ id, name }) => ({
              value: id,
              words: formatWords(name),
            }))}
            onChoice={(id) => {
              chosenFormat.value = id;
            }}
          />
        )}
        <ChoiceField
          label={words.orientation}
          value={orientation.value}
          options={[
            { value: 'portrait', words: job.portrait },
            { value: 'landscape', words: job.landscape },
          ]}
          onChoice={(value) => {
            orientation.value = value === 'landscape' ? 'landscape' : 'portrait';
          }}
        />
        <TextField
          label={words.copies}
          type="number"
          inputMode="numeric"
          min={1}
          max={jobLimits().labels}
          {...typed(copies)}
        />
      </div>
      {fit.says}
      {fit.question}
      {fields.length > 0 && (
        <fieldset class="row" aria-label={words.values}>
          {WAYS.map((one) => (
            <button
              key={one}
              type="button"
              class={way.value === one ? 'button chosen' : 'button'}
              aria-pressed={way.value === one}
              onClick={sets(way, one)}
            >
              {words[one]}
            </button>
          ))}
        </fieldset>
      )}
      {way.value === 'byFile' && <ByFile fields={fields} {...each} />}
      {way.value === 'byTable' && <ByTable fields={fields} cells={cells} {...each} />}
      {way.value === 'byHand' && <ByHand template={template} {...each} />}
    </div>
  );
}
