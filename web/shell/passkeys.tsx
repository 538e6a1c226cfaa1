/** The list of a person's passkeys, where they can be added and removed. */
import { useSignal } from '@preact/signals';
import { type PasskeyView, waysIn } from '../../src/contract/people.ts';
import { AskToEnd } from '../controls/asks.tsx';
import { Ask } from '../controls/dialog.tsx';
import { TextField, typed } from '../controls/field.tsx';
import { Opens } from '../controls/opens.tsx';
import { Shown } from '../controls/page.tsx';
import { sets } from '../controls/sets.ts';
import { Time } from '../controls/time.tsx';
import { Refusal } from '../service/call.ts';
import { useLive } from '../service/live.ts';
import { addPasskey, knowsPasskeys, passkeyList } from '../service/passkeys.ts';
import { t } from '../texts/texts.ts';
import { CurrentPassword } from './password-fields.tsx';

export function wrongPassword(problem: Error): string | undefined {
  const wrong = problem instanceof Refusal && problem.code === 'password-wrong';
  return wrong ? t.value.account.wrong : undefined;
}

export function Passkeys({ hasPassword }: { hasPassword: boolean }) {
  const { passkeys: words } = t.value;
  const { live, reload } = useLive(passkeyList, '/session/passkeys', () => false);
  const ways = useLive(waysIn, '/sign-in', () => false).live.data;
  const adding = useSignal(false);
  const removing = useSignal<PasskeyView | null>(null);
  const possible = ways?.passkeys === true && knowsPasskeys();
  return (
    <section class="card stack">
      <h2>{words.title}</h2>
      <p class="muted">{ways === undefined || possible ? words.hint : words.impossible}</p>
      <Shown of={live} onRetry={reload}>
        {(list) => list.length > 0 && <List passkeys={list} onRemove={(one) => (removing.value = one)} />}
      </Shown>
      {possible && (
        <div class="row">
          <Opens what={adding}>{words.add}</Opens>
        </div>
      )}
      {adding.value && <Add hasPassword={hasPassword} onAdded={reload} onClose={sets(adding, false)} />}
      {removing.value !== null && (
        <AskToEnd
          title={words.removeTitle(removing.value.name)}
          action={words.removed}
          says={words.removeSays}
          path={`/session/passkeys/${encodeURIComponent(removing.value.id)}`}
          onDone={reload}
          onClose={sets(removing, null)}
        />
      )}
    </section>
  );
}

type ListProps = { passkeys: readonly PasskeyView[]; onRemove: (passkey: PasskeyView) => void };

function List({ passkeys, onRemove }: ListProps) {
  const { passkeys: words, people } = t.value;
  return (
    <ul class="stack tight">
      {passkeys.map((passkey) => (
        <li key={passkey.id} class="row spread">
          <div>
            <strong class="anywhere">{passkey.name}</strong>
            <div class="small muted">
              {words.added} <Time at={passkey.createdAt} />
              {', '}
              {words.used} {passkey.lastUsedAt === null ? people.never : <Time at={passkey.lastUsedAt} />}
            </div>
          </div>
          <button
            type="button"
            class="button quiet"
            aria-label={`${words.remove} ${passkey.name}`}
            onClick={() => onRemove(passkey)}
          >
            {words.remove}
          </button>
        </li>
      ))}
    </ul>
  );
}

type AddProps = { hasPassword: boolean; onAdded: () => void; onClose: () => void };

function Add({ hasPassword, onAdded, onClose }: AddProps) {
  const { passkeys: words, account } = t.value;
  const name = useSignal('');
  const current = useSignal('');
  return (
    <Ask
      title={words.addTitle}
      action={words.addSubmit}
      disabled={name.value.trim() === ''}
      onClose={onClose}
      onAction={async () => {
        try {
          await addPasskey(name.value.trim(), hasPassword ? current.value : undefined);
        } catch (error) {
          throw inWords(error);
        }
        onAdded();
      }}
    >
      <p class="muted">{words.addHint}</p>
      <TextField
        label={words.name}
        required
        maxLength={60}
        placeholder={words.namePlaceholder}
        {...typed(name)}
      />
      {hasPassword && <CurrentPassword label={account.current} password={current} />}
    </Ask>
  );
}

function inWords(error: unknown): unknown {
  const { passkeys: words, signIn } = t.value;
  if (!(error instanceof Error)) return error;
  if (error.name === 'InvalidStateError') return new Error(words.known);
  if (error.name === 'NotAllowedError') return new Error(signIn.passkeyNone);
  const wrong = wrongPassword(error);
  return wrong === undefined ? error : new Error(wrong);
}
