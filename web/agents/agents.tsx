/** The page Agents: the agents that print here, those that are invited, and what waits for a decision. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { z } from 'zod';
import {
  type AgentView,
  agentView,
  type InvitationMade,
  LONG_AWAY_HOURS,
  type OpenInvitation,
  openInvitation,
  waitsOutside,
} from '../../src/contract/agent-view.ts';
import { CardTable } from '../controls/card-table.tsx';
import type { MenuItem } from '../controls/menu.tsx';
import { Opens } from '../controls/opens.tsx';
import { Empty, Page, Shown } from '../controls/page.tsx';
import { sets } from '../controls/sets.ts';
import { Time } from '../controls/time.tsx';
import { type Live, useLive } from '../service/live.ts';
import { may, session } from '../service/session.ts';
import { codeWords, t, when } from '../texts/texts.ts';
import { AgentQuestion, type Asked, keeps } from './agent-questions.tsx';
import { BroughtPrinters } from './brought-printers.tsx';
import { Code, Invite } from './invite.tsx';
import { Restored } from './restored.tsx';
import { Unreached } from './unreached.tsx';

type Row = { agent: AgentView } | { invitation: OpenInvitation };

export function Agents() {
  const { agents: words } = t.value;
  const invites = may('integrations');
  const { live, reload } = useLive(
    z.array(agentView),
    '/agents',
    ({ agents, printers }) => agents.length + printers.length > 0,
  );
  const open = useLive(
    z.array(openInvitation),
    invites ? '/agents/invitations' : null,
    ({ agents }) => agents.length > 0,
  );
  const inviting = useSignal(false);
  const made = useSignal<{ name: string; invitation: InvitationMade } | null>(null);
  const asked = useSignal<Asked | null>(null);
  const button = (
    <Opens what={inviting} look="primary">
      {words.invite}
    </Opens>
  );
  const done = () => {
    reload();
    open.reload();
  };
  return (
    <Page title={words.title} actions={invites && live.data !== undefined && button}>
      <div class="stack wide">
        <p class="muted">{words.hint}</p>
        {!invites && may('deployment') && <p class="muted">{words.needsAdmin}</p>}
        <Shown of={live} onRetry={reload}>
          {(agents) => (
            <>
              <Restored agents={agents} onDone={reload} />
              <BroughtPrinters agents={agents} onDone={reload} />
              <List
                rows={[
                  // One list arrives before the other. An agent must not be shown beside the code that it has used.
                  ...(open.live.data ?? [])
                    .filter(({ id }) => agents.every(({ enrolled }) => enrolled?.invitation !== id))
                    .map((invitation) => ({ invitation })),
                  ...agents.map((agent) => ({ agent })),
                ]}
                onAsk={(question) => {
                  asked.value = question;
                }}
              >
                {invites && button}
              </List>
              <Unreached agents={agents} />
            </>
          )}
        </Shown>
      </div>
      {inviting.value && (
        <Invite
          onClose={sets(inviting, false)}
          onMade={(name, invitation) => {
            made.value = { name, invitation };
            open.reload();
          }}
        />
      )}
      {made.value !== null && (
        <Code
          name={made.value.name}
          made={made.value.invitation}
          agent={invitedBy(live, made.value.invitation)}
          onClose={sets(made, null)}
        />
      )}
      {asked.value !== null && (
        <AgentQuestion asked={asked.value} onDone={done} onClose={sets(asked, null)} />
      )}
    </Page>
  );
}

function invitedBy({ data }: Live<AgentView[]>, { id }: InvitationMade): AgentView | undefined {
  return data?.find(({ enrolled }) => enrolled?.invitation === id);
}

type ListProps = {
  rows: readonly Row[];
  onAsk: (asked: Asked) => void;
  /** What to do when there is no agent. */
  children: ComponentChildren;
};

function List({ rows, onAsk, children }: ListProps) {
  const { agents: words, printers } = t.value;
  if (rows.length === 0) {
    return (
      <Empty icon="agents" title={words.empty} hint={words.emptyHint}>
        {children}
      </Empty>
    );
  }
  return (
    <CardTable
      rows={rows}
      keyOf={(row) => ('agent' in row ? row.agent.id : row.invitation.id)}
      columns={[
        { title: words.name, lead: true, cell: (row) => <Name row={row} /> },
        { title: words.state, cell: (row) => <State row={row} /> },
        { title: printers.title, cell: (row) => 'agent' in row && <Has agent={row.agent} /> },
        {
          title: printers.version,
          look: 'muted',
          cell: (row) => 'agent' in row && <Version agent={row.agent} />,
        },
        {
          title: words.seen,
          look: 'muted nowrap',
          cell: (row) => {
            if ('invitation' in row) return null;
            return row.agent.seenAt === null ? words.never : <Time at={row.agent.seenAt} />;
          },
        },
      ]}
      menu={(row) =>
        'agent' in row
          ? { about: row.agent.name, items: actionsOf(row.agent, onAsk) }
          : { about: row.invitation.name, items: withdrawal(row.invitation, onAsk) }
      }
    />
  );
}

function Name({ row }: { row: Row }) {
  const { agents: words } = t.value;
  const { name, tenant } = 'agent' in row ? row.agent : row.invitation;
  return (
    <div>
      <strong class="anywhere">{name}</strong>
      {(tenant === null || tenant !== session.value?.tenant.id) && (
        <div class="small muted">{tenant === null ? words.forAll : words.forOne(tenant)}</div>
      )}
    </div>
  );
}

function State({ row }: { row: Row }) {
  const { agents: words, printers } = t.value;
  if ('invitation' in row) {
    return (
      <div>
        <span class="badge busy">{words.waitsForIt}</span>
        <div class="small muted">{words.codeUntil(when(row.invitation.expiresAt))}</div>
      </div>
    );
  }
  const { online, enrolled, version } = row.agent;
  if (enrolled !== null && enrolled.revokedAt !== null) {
    return (
      <div>
        <span class="badge">{words.revoked}</span>
        <div class="small muted">
          <Time at={enrolled.revokedAt} />
        </div>
      </div>
    );
  }
  const connected = enrolled === null ? online : enrolled.connectedSince !== null;
  const refused = enrolled?.refused ?? null;
  return (
    <div>
      <span class={connected ? 'badge good' : 'badge warn'}>
        {connected ? printers.online : version === null ? words.enrolled : printers.agentOffline}
      </span>
      {enrolled?.moves === true && <div class="small muted">{words.moves}</div>}
      {refused !== null && (
        <div class="small doubt-words">
          {codeWords(words.refused, refused.code)} (<Time at={refused.at} />)
        </div>
      )}
    </div>
  );
}

function Version({ agent: { version, wentBackFrom } }: { agent: AgentView }) {
  return (
    <div>
      {version}
      {wentBackFrom !== null && <div class="small doubt-words">{t.value.agents.wentBack(wentBackFrom)}</div>}
    </div>
  );
}

function Has({ agent: { printers: count, enrolled } }: { agent: AgentView }) {
  const { agents: words, printers } = t.value;
  const waiting = enrolled?.notServed.filter(({ state }) => state === 'waiting').length ?? 0;
  return (
    <div>
      <span class="numbers">{printers.found(count)}</span>
      {waiting > 0 && enrolled?.revokedAt === null && (
        <div class="small doubt-words">{words.waiting(waiting)}</div>
      )}
    </div>
  );
}

function withdrawal(invitation: OpenInvitation, onAsk: (asked: Asked) => void): MenuItem[] {
  if (!keeps(invitation)) return [];
  const ask = () => onAsk({ about: 'withdraw', invitation });
  return [{ words: t.value.agents.withdraw, bad: true, onPick: ask }];
}

function actionsOf(agent: AgentView, onAsk: (asked: Asked) => void): MenuItem[] {
  const { agents: words } = t.value;
  const { enrolled, seenAt } = agent;
  if (!keeps(agent)) return [];
  const forget = { words: words.forget, bad: true, onPick: () => onAsk({ about: 'forget', agent }) };
  if (enrolled === null)
    return seenAt !== null && Date.now() - Date.parse(seenAt) > LONG_AWAY_HOURS * 3_600_000 ? [forget] : [];
  const rename = { words: words.rename, onPick: () => onAsk({ about: 'rename', agent }) };
  if (enrolled.revokedAt !== null) return [rename, forget];
  const waiting = enrolled.notServed.filter(({ state }) => state === 'waiting').length;
  const approve = { words: words.approveAll, onPick: () => onAsk({ about: 'approve', agent }) };
  const letIn = { words: words.letIn, onPick: () => onAsk({ about: 'let-in', agent }) };
  const move = { words: words.move, onPick: () => onAsk({ about: 'move', agent }) };
  return [
    rename,
    ...(waiting > 1 ? [approve] : []),
    ...(waitsOutside(agent) ? [letIn] : []),
    ...(may('deployment') ? [move] : []),
    { words: words.revoke, bad: true, onPick: () => onAsk({ about: 'revoke', agent }) },
  ];
}
