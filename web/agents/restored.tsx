/**
 * Says that the service's database was restored, and so is older than what its agents know. Lets in, all at once, the agents that
 * have enrolled since the back-up.
 */
import { useSignal } from '@preact/signals';
import { z } from 'zod';
import type { AgentView } from '../../src/contract/agent-view.ts';
import { Ask } from '../controls/dialog.tsx';
import { Opens } from '../controls/opens.tsx';
import { sets } from '../controls/sets.ts';
import { say } from '../controls/toast.tsx';
import { call } from '../service/call.ts';
import { t, when } from '../texts/texts.ts';
import { keeps, Names, pathOf } from './agent-questions.tsx';

type Props = { agents: readonly AgentView[]; onDone: () => void };

export function Restored({ agents, onDone }: Props) {
  const { agents: words } = t.value;
  const asking = useSignal(false);
  const ahead = agents.flatMap(({ enrolled }) => enrolled?.ahead ?? []);
  const [last] = ahead.map(({ at }) => at).toSorted((a, b) => b.localeCompare(a));
  if (last === undefined) return null;
  const waiting = agents.filter((agent) => agent.enrolled?.ahead?.waits === true && keeps(agent));
  return (
    <div class="note warn stack tight">
      <p>{words.restored(ahead.length, when(last))}</p>
      {waiting.length > 0 && (
        <div class="row spread">
          <span>{words.restoredWait(waiting.length)}</span>
          <Opens what={asking}>{words.letInAll}</Opens>
        </div>
      )}
      {asking.value && (
        <Ask
          title={words.letInAllTitle(waiting.length)}
          action={words.letInAll}
          onClose={sets(asking, false)}
          onAction={async () => {
            for (const agent of waiting) {
              await call(z.unknown(), pathOf(agent, '/let-in'), { method: 'POST' });
            }
            say(words.letInAllDone(waiting.length));
            onDone();
          }}
        >
          <p>{words.letInAllSays}</p>
          <Names of={waiting} />
        </Ask>
      )}
    </div>
  );
}
