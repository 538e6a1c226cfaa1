/** The page of one printer: state, agents, formats, its latest jobs and its last label. */
import { useSignal } from '@preact/signals';
import { Fragment } from 'preact';
import type { PrinterFormat } from '../../src/contract/format.ts';
import { jobDetails } from '../../src/contract/job-details.ts';
import { jobPage } from '../../src/contract/job-search.ts';
import { to } from '../address/place.ts';
import { CopyButton } from '../controls/copy.tsx';
import { NotFound, Page, Shown } from '../controls/page.tsx';
import { sets } from '../controls/sets.ts';
import { JobTable } from '../jobs/job-table.tsx';
import { pictureOf } from '../jobs/label-strip.tsx';
import { Refusal } from '../service/call.ts';
import { useLive } from '../service/live.ts';
import { may } from '../service/session.ts';
import { formatWords, t } from '../texts/texts.ts';
import { PrinterActions } from './printer-actions.tsx';
import { Granted } from './printer-grants.tsx';
import { mayActOn, type Printer, PrinterState, printer as printerOf } from './printer-words.tsx';
import { VirtualPanel } from './virtual-panel.tsx';

const LATEST = 10;

export function PrinterPage({ id }: { id: string }) {
  const { printers: words } = t.value;
  // The service also answers for a printer that no agent has any more.
  const { live, reload } = useLive(printerOf, `/printers/${encodeURIComponent(id)}`);
  const jobs = useLive(jobPage, `/jobs?printer=${encodeURIComponent(id)}&limit=${LATEST}`);
  const printer = live.data;
  const unknown = live.problem instanceof Refusal && live.problem.status === 404;
  return (
    <Page
      title={printer?.name ?? words.title}
      crumb={{ words: words.title, href: to(['printers']) }}
      beside={printer && <PrinterState printer={printer} />}
      actions={printer && <PrinterActions printer={printer} onDone={reload} />}
    >
      {unknown && <NotFound />}
      {!unknown && (
        <Shown of={live} onRetry={reload}>
          {(printer) => (
            <div class="split">
              <section class="stack tight">
                <div class="row spread">
                  <h2>{words.jobs}</h2>
                  <a href={to(['jobs'], { printer: printer.name })}>{t.value.jobs.all}</a>
                </div>
                <Shown of={jobs.live} onRetry={jobs.reload}>
                  {(page) =>
                    page.jobs.length === 0 ? (
                      <p class="muted">{t.value.general.none}</p>
                    ) : (
                      <JobTable jobs={page.jobs} onePrinter />
                    )
                  }
                </Shown>
              </section>
              <div class="stack wide">
                {printer.lastJob !== null && !printer.virtual && may('labels:read') && (
                  <LastLabel key={printer.lastJob} job={printer.lastJob} />
                )}
                {printer.virtual && may('labels:read') && mayActOn(printer) && (
                  <VirtualPanel printer={printer} />
                )}
                <Facts printer={printer} />
              </div>
            </div>
          )}
        </Shown>
      )}
    </Page>
  );
}

function LastLabel({ job }: { job: string }) {
  const { printers: words } = t.value;
  const gone = useSignal(false);
  const { live } = useLive(jobDetails, `/jobs/${encodeURIComponent(job)}`, () => false);
  if (gone.value || live.data === undefined) return null;
  return (
    <section class="stack tight">
      <h2>{words.lastLabel}</h2>
      <a href={to(['jobs', job])} class="last-label">
        <img
          class="paper"
          src={pictureOf(job, live.data.labels.total - 1, 480)}
          alt={words.lastLabel}
          onError={sets(gone, true)}
        />
      </a>
    </section>
  );
}

function Facts({ printer }: { printer: Printer }) {
  const { printers: words, general } = t.value;
  const serving = printer.agents.filter(({ serves }) => serves === true).map(({ name }) => name);
  return (
    <dl class="facts">
      {(
        [
          [words.place, printer.place],
          [words.group, printer.group],
          [words.note, printer.note],
        ] as const
      ).map(
        ([name, said = '']) =>
          said !== '' && (
            <Fragment key={name}>
              <dt>{name}</dt>
              <dd class="as-written">{said}</dd>
            </Fragment>
          ),
      )}
      <dt>{words.serves}</dt>
      <dd>{serving.join(', ') || words.nobody}</dd>
      <dt>{words.model}</dt>
      <dd>{printer.model ?? words.notKnown}</dd>
      <dt>{words.address}</dt>
      <dd class="mono">{printer.uri}</dd>
      {typeof printer.ipp === 'string' && (
        <>
          <dt>{words.ipp.address}</dt>
          <dd>
            <div class="row">
              <span class="mono anywhere">{printer.ipp}</span>
              <CopyButton text={printer.ipp} about={words.ipp.address} />
            </div>
            <p class="muted small">{words.ipp.hint}</p>
          </dd>
        </>
      )}
      <dt>{words.confirmedBy}</dt>
      <dd>{printer.confirmedBy === null ? words.notKnown : words.confirmed[printer.confirmedBy]}</dd>
      {printer.supplies.length > 0 && (
        <>
          <dt>{words.supplies}</dt>
          <dd>{printer.supplies.map(({ name, left }) => words.supplyLeft(name, left)).join(', ')}</dd>
        </>
      )}
      <dt>{words.formats}</dt>
      <dd>
        <ul>
          {printer.formats.map((format) => (
            <li key={format.id}>
              {formatWords(format.name)}{' '}
              <span class="muted small">
                {isNamedBySize(format)
                  ? ''
                  : `${general.mm(format.width, format.height)}, ${format.dpi} dpi, `}
                {format.language.toUpperCase()}
              </span>
              {settingsOf(format) !== '' && <div class="small">{settingsOf(format)}</div>}
            </li>
          ))}
        </ul>
        <p class="muted small">{words.settingsHint}</p>
      </dd>
      {printer.tenant === null && (
        <>
          <dt>{t.value.signIn.workspace}</dt>
          <dd>{printer.grantedTo ? <Granted to={printer.grantedTo} /> : words.shared}</dd>
        </>
      )}
      <dt>ID</dt>
      <dd class="mono">{printer.id}</dd>
    </dl>
  );
}

/** The settings that the format makes. For any that it leaves out, the printer's own setting counts. */
function settingsOf(format: PrinterFormat): string {
  const { setting, settingOf } = t.value.printers;
  const { darkness, darknessOffset, speed, mediaTracking, printMode, thermalMode, labelTop, labelShift } =
    format;
  return [
    darkness !== undefined && settingOf.darkness(numeral(darkness)),
    darknessOffset !== undefined && settingOf.darkness(numeral(darknessOffset, 'always')),
    speed !== undefined && settingOf.speed(speed),
    mediaTracking && setting[mediaTracking],
    printMode && setting[printMode],
    thermalMode && setting[thermalMode],
    labelTop !== undefined && settingOf.labelTop(labelTop),
    labelShift !== undefined && settingOf.labelShift(labelShift),
  ]
    .filter((words) => words)
    .join(', ');
}

function numeral(value: number, signDisplay: 'auto' | 'always' = 'auto'): string {
  return value.toLocaleString(t.value.locale, { signDisplay, useGrouping: false });
}

/** Whether the format is called by its size, as agents call one that nobody has named. */
function isNamedBySize({ name, width, height, dpi }: PrinterFormat): boolean {
  return name === `${width} × ${height} mm, ${dpi} dpi`;
}
