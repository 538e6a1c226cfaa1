/** Who has access to this workspace, and in which role. */
import { useSignal } from '@preact/signals';
import { z } from 'zod';
import {
  type InvitationCreated,
  invitationCreated,
  type PersonView,
  personView,
  ROLES,
  type Role,
} from '../../src/contract/people.ts';
import { AskToEnd } from '../controls/asks.tsx';
import { CardTable } from '../controls/card-table.tsx';
import { CopyButton } from '../controls/copy.tsx';
import { Ask, Dialog } from '../controls/dialog.tsx';
import { ChoiceField, TextField, typed } from '../controls/field.tsx';
import { OnlyHere } from '../controls/only-here.tsx';
import { Opens } from '../controls/opens.tsx';
import { Page, Shown } from '../controls/page.tsx';
import { sets } from '../controls/sets.ts';
import { Time } from '../controls/time.tsx';
import { call } from '../service/call.ts';
import { ofTheTenant, useLive } from '../service/live.ts';
import { findSession, ofTenant, session } from '../service/session.ts';
import { t, when } from '../texts/texts.ts';

type Question = { about: 'role' | 'revoke' | 'link'; person: PersonView };

const pathOf = ({ id }: PersonView, what = '') => ofTenant(`/people/${encodeURIComponent(id)}${what}`);

export function People() {
  const { people: words } = t.value;
  const { live, reload } = useLive(z.array(personView), ofTenant('/people'), ofTheTenant);
  const inviting = useSignal(false);
  const invitation = useSignal<InvitationCreated | null>(null);
  const asked = useSignal<Question | null>(null);
  const close = sets(asked, null);
  const invited = (made: InvitationCreated) => {
    invitation.value = made;
    reload();
  };
  return (
    <Page
      title={words.title}
      actions={
        <Opens what={inviting} look="primary">
          {words.invite}
        </Opens>
      }
    >
      <Shown of={live} onRetry={reload}>
        {(list) => (
          <CardTable
            rows={list}
            keyOf={({ id }) => id}
            columns={[
              {
                title: words.name,
                lead: true,
                cell: ({ id, name, login }) => (
                  <div>
                    <strong>{name}</strong>
                    {id === session.value?.person.id && <span class="muted"> ({words.you})</span>}
                    <div class="small muted">{login}</div>
                  </div>
                ),
              },
              { title: words.role, cell: ({ role }) => words.roles[role] },
              {
                title: words.state,
                cell: ({ state }) => (
                  <span class={state === 'active' ? 'badge good' : 'badge'}>{words.states[state]}</span>
                ),
              },
              {
                title: words.lastSeen,
                look: 'muted',
                cell: ({ lastSeenAt }) => (lastSeenAt === null ? words.never : <Time at={lastSeenAt} />),
              },
            ]}
            menu={(person) => ({
              about: person.name,
              // Somebody who was revoked can come back only by a new invitation.
              items:
                person.state === 'revoked'
                  ? []
                  : (
                      [
                        { about: 'role', said: words.changeRole, bad: false },
                        { about: 'link', said: words.inviteAgain, bad: false },
                        { about: 'revoke', said: words.revoke, bad: true },
                      ] as const
                    ).map(({ about, said, bad }) => ({
                      words: said,
                      bad,
                      onPick: () => {
                        asked.value = { about, person };
                      },
                    })),
            })}
          />
        )}
      </Shown>
      {inviting.value && <Invite onInvited={invited} onClose={sets(inviting, false)} />}
      {asked.value?.about === 'role' && (
        <ChangeRole person={asked.value.person} onDone={reload} onClose={close} />
      )}
      {asked.value?.about === 'revoke' && (
        <AskToEnd
          title={words.revokeTitle(asked.value.person.name)}
          action={words.revoke}
          says={words.revokeSays}
          path={pathOf(asked.value.person)}
          onDone={reload}
          onClose={close}
        />
      )}
      {asked.value?.about === 'link' && (
        <NewLink person={asked.value.person} onInvited={invited} onClose={close} />
      )}
      {invitation.value !== null && <Link made={invitation.value} onClose={sets(invitation, null)} />}
    </Page>
  );
}

function RoleField({ value, onRole }: { value: Role; onRole: (role: Role) => void }) {
  const { people: words } = t.value;
  return (
    <ChoiceField
      label={words.role}
      value={value}
      hint={words.roleSays[value]}
      options={ROLES.map((role) => ({ value: role, words: words.roles[role] }))}
      onChoice={(chosen) => {
        const role = ROLES.find((one) => one === chosen);
        if (role !== undefined) onRole(role);
      }}
    />
  );
}

type InviteProps = { onInvited: (made: InvitationCreated) => void; onClose: () => void };

function Invite({ onInvited, onClose }: InviteProps) {
  const { people: words } = t.value;
  const login = useSignal('');
  const name = useSignal('');
  const role = useSignal<Role>('operator');
  return (
    <Ask
      title={words.inviteTitle}
      action={words.submit}
      onClose={onClose}
      onAction={async () => {
        const named = name.value.trim();
        const body = { login: login.value, role: role.value, ...(named === '' ? {} : { name: named }) };
        onInvited(await call(invitationCreated, ofTenant('/people'), { body }));
      }}
    >
      <TextField label={words.login} required maxLength={200} autocomplete="off" {...typed(login)} />
      <TextField label={words.name} maxLength={200} autocomplete="off" {...typed(name)} />
      <RoleField
        value={role.value}
        onRole={(value) => {
          role.value = value;
        }}
      />
    </Ask>
  );
}

type PersonProps = { person: PersonView; onDone: () => void; onClose: () => void };

function ChangeRole({ person, onDone, onClose }: PersonProps) {
  const { people: words, general } = t.value;
  const role = useSignal(person.role);
  return (
    <Ask
      title={words.changeTitle(person.name)}
      action={general.save}
      onClose={onClose}
      onAction={async () => {
        await call(personView, pathOf(person), { method: 'PUT', body: { role: role.value } });
        onDone();
        // Whoever changed their own role may now do other things, and see other pages.
        if (person.id === session.value?.person.id) await findSession();
      }}
    >
      <RoleField
        value={role.value}
        onRole={(value) => {
          role.value = value;
        }}
      />
    </Ask>
  );
}

function NewLink({ person, onInvited, onClose }: InviteProps & { person: PersonView }) {
  const { people: words } = t.value;
  return (
    <Ask
      title={words.againTitle(person.name)}
      action={words.submit}
      onClose={onClose}
      onAction={async () => {
        onInvited(await call(invitationCreated, pathOf(person, '/invitation'), { method: 'POST' }));
      }}
    >
      <p>{words.againSays}</p>
    </Ask>
  );
}

function Link({ made, onClose }: { made: InvitationCreated; onClose: () => void }) {
  const { people: words, general } = t.value;
  return (
    <Dialog title={words.linkTitle} stays closes={general.close} onClose={onClose}>
      <OnlyHere url={made.url} says={words.onlyHere} />
      <p>{words.linkSays(made.person.name, when(made.expiresAt))}</p>
      <div class="row">
        <code class="anywhere">{made.url}</code>
        <CopyButton text={made.url} about={words.linkTitle} />
      </div>
    </Dialog>
  );
}
