/** Printers that agents at other sites have brought, and that wait until somebody says whether the agent gets their jobs. */
import { useSignal } from '@preact/signals';
import { type AgentView, printersDecided } from '../../src/contract/agent-view.ts';
import { CardTable } from '../controls/card-table.tsx';
import { sayProblem } from '../controls/problem.tsx';
import { Time } from '../controls/time.tsx';
import { say } from '../controls/toast.tsx';
import { call } from '../service/call.ts';
import { t } from '../texts/texts.ts';
import { keeps, pathOf } from './agent-questions.tsx';

type Brought = NonNullable<AgentView['enrolled']>['notServed'][number] & { agent: AgentView };

type Props = { agents: readonly AgentView[]; onDone: () => void };

export function BroughtPrinters({ agents, onDone }: Props) {
  const { agents: words } = t.value;
  const all = agents.flatMap((agent): Brought[] =>
    agent.enrolled?.revokedAt === null
      ? agent.enrolled.notServed.map((printer) => ({ ...printer, agent }))
      : [],
  );
  const of = (state: Brought['state']) => all.filter((one) => one.state === state);
  const [waiting, refused] = [of('waiting'), of('refused')];
  return (
    <>
      {waiting.length > 0 && (
        <section class="stack tight">
          <h2>{words.waitTitle}</h2>
          <p class="muted small">{words.waitHint}</p>
          <Rows printers={waiting} onDone={onDone} />
        </section>
      )}
      {refused.length > 0 && (
        <details>
          <summary>{words.refusedTitle(refused.length)}</summary>
          <Rows printers={refused} onDone={onDone} />
        </details>
      )}
    </>
  );
}

function Rows({ printers, onDone }: { printers: readonly Brought[]; onDone: () => void }) {
  const { agents: words } = t.value;
  return (
    <CardTable
      rows={printers}
      keyOf={({ id, agent }) => `${agent.id} ${id}`}
      columns={[
        {
          title: words.printer,
          lead: true,
          cell: ({ id, name }) => (
            <div>
              <strong class="anywhere">{name}</strong>
              <div class="small mono muted anywhere">{id}</div>
            </div>
          ),
        },
        { title: words.agent, cell: ({ agent }) => agent.name },
        { title: words.since, look: 'muted nowrap', cell: ({ since }) => <Time at={since} /> },
        { title: words.decide, cell: (printer) => <Decide printer={printer} onDone={onDone} /> },
      ]}
    />
  );
}

function Decide({ printer, onDone }: { printer: Brought; onDone: () => void }) {
  const { agents: words } = t.value;
  const busy = useSignal(false);
  if (!keeps(printer.agent)) return null;
  const decide = async (state: 'approved' | 'refused') => {
    if (busy.value) return;
    busy.value = true;
    try {
      const body = { state, printers: [printer.id] };
      await call(printersDecided, pathOf(printer.agent, '/printers'), { body });
      say(words.decided[state](printer.name));
      onDone();
    } catch (error) {
      sayProblem(error);
    }
    busy.value = false;
  };
  const button = (state: 'approved' | 'refused', said: string) => (
    <button
      type="button"
      class="button"
      disabled={busy.value}
      aria-label={`${said}: ${printer.name}`}
      onClick={() => void decide(state)}
    >
      {said}
    </button>
  );
  return (
    <div class="row">
      {button('approved', words.approve)}
      {printer.state === 'waiting' && button('refused', words.refuse)}
    </div>
  );
}
