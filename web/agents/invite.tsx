/** Invites an agent at another site: shows the code once, and meanwhile what becomes of it. */
import { useSignal } from '@preact/signals';
import { type AgentView, type InvitationMade, invitationMade } from '../../src/contract/agent-view.ts';
import { CopyButton } from '../controls/copy.tsx';
import { Ask, Dialog } from '../controls/dialog.tsx';
import { ChoiceField, TextField, typed } from '../controls/field.tsx';
import { OnlyHere } from '../controls/only-here.tsx';
import { call } from '../service/call.ts';
import { may, session } from '../service/session.ts';
import { t, when } from '../texts/texts.ts';
import { EVERY, Whose } from './whose.tsx';

type InviteProps = { onMade: (name: string, made: InvitationMade) => void; onClose: () => void };

export function Invite({ onMade, onClose }: InviteProps) {
  const { agents: words } = t.value;
  const everywhere = may('deployment');
  const name = useSignal('');
  const tenant = useSignal(everywhere ? EVERY : (session.value?.tenant.id ?? EVERY));
  const printers = useSignal('any');
  return (
    <Ask
      title={words.inviteTitle}
      action={words.inviteSubmit}
      disabled={name.value.trim() === ''}
      onClose={onClose}
      onAction={async () => {
        const named = name.value.trim();
        const body = {
          ...{ name: named, printers: printers.value },
          ...(tenant.value !== EVERY && { tenant: tenant.value }),
        };
        onMade(named, await call(invitationMade, '/agents/invitations', { body }));
      }}
    >
      <p class="muted">{words.inviteSays}</p>
      <TextField
        label={words.name}
        required
        maxLength={200}
        autocomplete="off"
        placeholder={words.namePlaceholder}
        {...typed(name)}
      />
      {everywhere && <Whose tenant={tenant} />}
      <ChoiceField
        label={words.brings}
        hint={words.bringsHint}
        value={printers.value}
        options={[
          { value: 'any', words: words.bringsAny },
          { value: 'approve', words: words.bringsApprove },
        ]}
        onChoice={(value) => {
          printers.value = value;
        }}
      />
    </Ask>
  );
}

type CodeProps = {
  name: string;
  made: InvitationMade;
  /** The agent, once it has enrolled. */
  agent: AgentView | undefined;
  onClose: () => void;
};

export function Code({ name, made: { url, expiresAt }, agent, onClose }: CodeProps) {
  const { agents: words, general } = t.value;
  const command = `sudo platen agent enroll '${url}'`;
  const start = 'sudo systemctl start platen-agent';
  return (
    <Dialog
      title={words.codeTitle(name)}
      large
      stays
      closes={agent === undefined ? words.kept : general.close}
      onClose={onClose}
    >
      <OnlyHere url={url} says={words.onlyHere} />
      <p>{words.codeSays(when(expiresAt))}</p>
      <div class="stack tight">
        <div class="row spread">
          <h3>{words.there}</h3>
          <CopyButton text={`${command}\n${start}\n`} about={words.there} />
        </div>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be scrolled with the keyboard too */}
        <pre class="code" tabIndex={0}>
          {`${command}\n${start}`}
        </pre>
      </div>
      <div class="row spread">
        <div>
          <div class="label">{words.code}</div>
          <code class="anywhere">{url}</code>
        </div>
        <CopyButton text={url} about={words.code} />
      </div>
      <Progress agent={agent} />
    </Dialog>
  );
}

/** Shows live what becomes of the code. */
function Progress({ agent }: { agent: AgentView | undefined }) {
  const { agents: words } = t.value;
  const connected = agent?.enrolled?.connectedSince !== null;
  return (
    <p class={agent === undefined ? 'note' : connected ? 'note good' : 'note warn'} role="status">
      {agent === undefined ? words.waitsForIt : connected ? foundWords(agent) : words.enrolledNotYet}
    </p>
  );
}

function foundWords({ version, printers, enrolled }: AgentView): string {
  const { agents: words } = t.value;
  const waiting = enrolled?.notServed.filter(({ state }) => state === 'waiting').length ?? 0;
  if (version === null) return words.looks;
  return waiting === 0 ? words.foundSome(printers) : words.foundWaiting(printers, waiting);
}
