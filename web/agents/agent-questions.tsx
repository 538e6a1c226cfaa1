/** Dialogs that ask before something is done to an agent. */
import { useSignal } from '@preact/signals';
import { z } from 'zod';
import { type AgentView, type OpenInvitation, printersDecided } from '../../src/contract/agent-view.ts';
import { AskName, AskToEnd } from '../controls/asks.tsx';
import { Ask } from '../controls/dialog.tsx';
import { say } from '../controls/toast.tsx';
import { call } from '../service/call.ts';
import { may, session } from '../service/session.ts';
import { t } from '../texts/texts.ts';
import { EVERY, Whose } from './whose.tsx';

export type Asked =
  | { about: 'rename' | 'approve' | 'let-in' | 'move' | 'revoke' | 'forget'; agent: AgentView }
  | { about: 'withdraw'; invitation: OpenInvitation };

/** About a shared agent, only people who may do what concerns all tenants decide. */
export function keeps({ tenant }: Pick<AgentView, 'tenant'>): boolean {
  return may('integrations') && (may('deployment') || tenant === session.value?.tenant.id);
}

type QuestionProps = { asked: Asked; onDone: () => void; onClose: () => void };

export function pathOf({ id }: Pick<AgentView, 'id'>, what: `/${string}` | '' = ''): string {
  return `/agents/${encodeURIComponent(id)}${what}`;
}

export function AgentQuestion({ asked, ...rest }: QuestionProps) {
  const { agents: words } = t.value;
  if (asked.about === 'withdraw') {
    const { id, name } = asked.invitation;
    return (
      <AskToEnd
        title={words.withdrawTitle(name)}
        action={words.withdrawDo}
        says={words.withdrawSays}
        path={`/agents/invitations/${id}`}
        {...rest}
      />
    );
  }
  const { about, agent } = asked;
  if (about === 'approve') return <ApproveAll agent={agent} {...rest} />;
  if (about === 'move') return <Move agent={agent} {...rest} />;
  if (about === 'let-in') return <LetIn agent={agent} {...rest} />;
  if (about === 'rename') {
    return (
      <AskName
        title={words.renameTitle(agent.name)}
        label={words.name}
        hint={words.renameHint}
        now={agent.name}
        path={pathOf(agent, '/name')}
        {...rest}
      />
    );
  }
  const end = {
    revoke: {
      title: words.revokeTitle(agent.name),
      action: words.revoke,
      says: words.revokeSays,
      path: pathOf(agent, '/revoke'),
      method: 'POST',
    },
    forget: {
      title: words.forgetTitle(agent.name),
      action: words.forget,
      says: words.forgetSays,
      path: pathOf(agent),
    },
  } as const;
  return <AskToEnd {...end[about]} {...rest} />;
}

type Props = Omit<QuestionProps, 'asked'> & { agent: AgentView };

function ApproveAll({ agent, onDone, onClose }: Props) {
  const { agents: words } = t.value;
  const waiting = agent.enrolled?.notServed.filter(({ state }) => state === 'waiting') ?? [];
  return (
    <Ask
      title={words.approveAllTitle(agent.name)}
      action={words.approve}
      onClose={onClose}
      onAction={async () => {
        // Only the printers that the person sees here; one that has come since then goes on waiting.
        const body = { state: 'approved', printers: waiting.map(({ id }) => id) };
        const { printers } = await call(printersDecided, pathOf(agent, '/printers'), { body });
        say(words.approvedSome(printers.length));
        onDone();
      }}
    >
      <p>{words.approveSays(agent.name)}</p>
      <Names of={waiting} />
    </Ask>
  );
}

export function Names({ of }: { of: readonly { id: string; name: string }[] }) {
  return (
    <ul class="small">
      {of.map(({ id, name }) => (
        <li key={id} class="anywhere">
          {name}
        </li>
      ))}
    </ul>
  );
}

function LetIn({ agent, onDone, onClose }: Props) {
  const { agents: words } = t.value;
  return (
    <Ask
      title={words.letInTitle(agent.name)}
      action={words.letInDo}
      onClose={onClose}
      onAction={async () => {
        await call(z.unknown(), pathOf(agent, '/let-in'), { method: 'POST' });
        say(words.letInDone(agent.name));
        onDone();
      }}
    >
      <p>{words.letInSays}</p>
    </Ask>
  );
}

function Move({ agent, onDone, onClose }: Props) {
  const { agents: words } = t.value;
  const now = agent.tenant ?? EVERY;
  const to = useSignal(now);
  const moves = agent.enrolled?.moves === true;
  return (
    <Ask
      title={words.moveTitle(agent.name)}
      action={to.value === now ? words.stays : words.moveDo}
      disabled={to.value === now && !moves}
      onClose={onClose}
      onAction={async () => {
        await call(z.unknown(), pathOf(agent, '/move'), {
          body: { tenant: to.value === EVERY ? null : to.value },
        });
        say(to.value === now ? words.staysDone(agent.name) : words.moveDone(agent.name));
        onDone();
      }}
    >
      <Whose tenant={to} />
      {moves && <p class="note">{words.movesSays}</p>}
      <p>{words.moveSays}</p>
      <p>{words.moveLoses}</p>
    </Ask>
  );
}
