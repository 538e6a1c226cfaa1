/** Printers that an agent's configuration names and that were never reached, and why. */
import type { AgentView } from '../../src/contract/agent-view.ts';
import { Time } from '../controls/time.tsx';
import { t } from '../texts/texts.ts';

/** An agent that is offline says nothing about what it would reach now. */
export function unreachedOf(agents: readonly AgentView[]) {
  return agents
    .filter(({ online }) => online)
    .flatMap(({ id, name: agent, unreached }) => unreached.map((one) => ({ ...one, id, agent })));
}

export function Unreached({ agents }: { agents: readonly AgentView[] }) {
  const { printers: words } = t.value;
  const all = unreachedOf(agents);
  if (all.length === 0) return null;
  return (
    <div class="note warn">
      <strong>{words.unreached}</strong>
      <ul class="small">
        {all.map(({ id, agent, uri, name, why, since }) => (
          <li key={`${id} ${uri}`} class="anywhere">
            {agent}: {name !== undefined && <strong>{name} </strong>}
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
  );
}
