/** The page of all printers. */
import { useSignal } from '@preact/signals';
import { z } from 'zod';
import { agentView } from '../../src/contract/agent-view.ts';
import { to } from '../address/place.ts';
import { unreachedOf } from '../agents/unreached.tsx';
import { Opens } from '../controls/opens.tsx';
import { Empty, Page, Shown } from '../controls/page.tsx';
import { sets } from '../controls/sets.ts';
import { useLive } from '../service/live.ts';
import { may } from '../service/session.ts';
import { mediaWords, t } from '../texts/texts.ts';
import { AddedPrinters, AddPrinter } from './add-printer.tsx';
import { PrinterActions } from './printer-actions.tsx';
import { groupsOf, type Printer, PrinterState, printerList } from './printer-words.tsx';

/** Stands in an address in place of a printer's ID; no printer has this ID. */
export const WALL = 'wall';

export function Printers() {
  const { printers: words } = t.value;
  const printers = useLive(printerList, '/printers');
  const gone = useLive(printerList, '/printers?gone=true', (change) => change.printers.length > 0);
  const agents = useLive(z.array(agentView), '/agents', (change) => change.printers.length > 0);
  const adding = useSignal(false);
  const missed = unreachedOf(agents.live.data ?? []).length;
  const hidden = printers.live.data?.filter((printer) => printer.hidden) ?? [];
  return (
    <Page
      title={words.title}
      actions={
        <>
          <a class="button" href={to(['printers', WALL])}>
            {words.wall}
          </a>
          {may('integrations') && <Opens what={adding}>{t.value.added.title}</Opens>}
        </>
      }
    >
      <div class="stack wide">
        <Shown of={printers.live} onRetry={printers.reload}>
          {(list) =>
            list.length === 0 ? (
              <Empty icon="printers" title={words.empty} hint={words.emptyHint} />
            ) : (
              <Groups of={list.filter(({ hidden }) => !hidden)} onDone={printers.reload} />
            )
          }
        </Shown>
        <AddedPrinters />
        {hidden.length > 0 && (
          <details>
            <summary>{words.hiddenTitle(hidden.length)}</summary>
            <div class="stack tight">
              <p class="muted small">{words.hiddenHint}</p>
              <Rows of={hidden} onDone={printers.reload} />
            </div>
          </details>
        )}
        {gone.live.data !== undefined && gone.live.data.length > 0 && (
          <section class="stack tight">
            <h2>{words.goneTitle}</h2>
            <p class="muted small">{words.goneHint}</p>
            <Rows
              of={gone.live.data}
              onDone={() => {
                gone.reload();
                printers.reload();
              }}
            />
          </section>
        )}
        {missed > 0 && (
          <p class="note warn">
            <a href={to(['agents'])}>{t.value.agents.unreached(missed)}</a>
          </p>
        )}
      </div>
      {adding.value && <AddPrinter onClose={sets(adding, false)} />}
    </Page>
  );
}

/** The printers. If people have made groups, the printers of each stand together. */
function Groups({ of, onDone }: { of: readonly Printer[]; onDone: () => void }) {
  const { printers: words } = t.value;
  const groups = groupsOf(of);
  if (groups.length === 0) return <Rows of={of} onDone={onDone} />;
  return (
    <>
      {[...groups, ''].map((group) => {
        const printers = of.filter((one) => (one.group ?? '') === group);
        return (
          printers.length > 0 && (
            <section key={group} class="stack tight">
              <h2 class="anywhere">{group === '' ? words.noGroup : group}</h2>
              <Rows of={printers} onDone={onDone} />
            </section>
          )
        );
      })}
    </>
  );
}

function Rows({ of, onDone }: { of: readonly Printer[]; onDone: () => void }) {
  return (
    <ul class="stack">
      {of.map((printer) => (
        <Row key={`${printer.tenant} ${printer.id}`} printer={printer} onDone={onDone} />
      ))}
    </ul>
  );
}

function Row({ printer, onDone }: { printer: Printer; onDone: () => void }) {
  const { printers: words } = t.value;
  return (
    <li class="card printer-row">
      <div class="stack hair">
        <a class="row-link anywhere" href={to(['printers', printer.id])}>
          {printer.name}
        </a>
        {(printer.place ?? '') !== '' && <div class="small anywhere">{printer.place}</div>}
        <div class="small muted anywhere">{printer.model ?? printer.uri}</div>
        <div class="small muted">{mediaWords(printer.formats)}</div>
      </div>
      <PrinterState printer={printer} />
      <div class="small muted">
        <div>{words.waiting(printer.jobs.queued, printer.jobs.printing)}</div>
        <div>{words.today(printer.labelsToday)}</div>
      </div>
      <div class="row end">
        <PrinterActions printer={printer} onDone={onDone} />
      </div>
    </li>
  );
}
