/** The page of all printers and agents. */
import { z } from 'zod';
import { type AgentView, agentView } from '../../src/contract/printer-view.ts';
import { to } from '../address/place.ts';
import { Empty, Page, Shown } from '../controls/page.tsx';
import { Time } from '../controls/time.tsx';
import { useLive } from '../service/live.ts';
import { mediaWords, t } from '../texts/texts.ts';
import { PrinterActions } from './printer-actions.tsx';
import { groupsOf, type Printer, PrinterState, printerList } from './printer-words.tsx';

/** Stands in an address where a printer's ID would: it is none. */
export const WALL = 'wall';

export function Printers() {
  const { printers: words } = t.value;
  const printers = useLive(printerList, '/printers');
  const gone = useLive(printerList, '/printers?gone=true', (change) => change.printers.length > 0);
  const agents = useLive(z.array(agentView), '/agents', (change) => change.printers.length > 0);
  const hidden = printers.live.data?.filter((printer) => printer.hidden) ?? [];
  return (
    <Page
      title={words.title}
      actions={
        <a class="button" href={to(['printers', WALL])}>
          {words.wall}
        </a>
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
        <section class="stack tight">
          <h2>{words.agents}</h2>
          <Shown of={agents.live} onRetry={agents.reload}>
            {(list) =>
              list.length === 0 ? (
                <p class="muted">{words.noAgents}</p>
              ) : (
                <ul class="stack">
                  {list.map((agent) => (
                    <Agent key={agent.id} agent={agent} />
                  ))}
                </ul>
              )
            }
          </Shown>
        </section>
      </div>
    </Page>
  );
}

/** The printers, those of a group together, where anybody has made groups. */
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

function Agent({ agent }: { agent: AgentView }) {
  const { printers: words } = t.value;
  return (
    <li class="card stack tight">
      <div class="row spread">
        <div class="row">
          <strong class="anywhere">{agent.name}</strong>
          <span class={agent.online ? 'badge good' : 'badge warn'}>
            {agent.online ? words.online : words.agentOffline}
          </span>
        </div>
        <span class="small muted">
          {words.found(agent.printers)} · {words.version} {agent.version}
          {!agent.online && (
            <>
              {' '}
              · <Time at={agent.seenAt} />
            </>
          )}
        </span>
      </div>
      {agent.unreached.length > 0 && (
        <div class="note warn">
          <strong>{words.unreached}</strong>
          <ul class="small">
            {agent.unreached.map(({ uri, name, why, since }) => (
              <li key={uri} class="anywhere">
                {name !== undefined && <strong>{name} </strong>}
                <span class="mono">{uri}</span>: {why}
                {since !== undefined && (
                  <>
                    {' '}
                    ({words.triedSince} <Time at={since} />)
                  </>
                )}
              </li>
            ))}
          </ul>
          <p class="small">{words.unreachedHelp}</p>
        </div>
      )}
    </li>
  );
}
