/** The sign-in page: single sign-on, passkey or password. It also says why a link did not sign somebody in. */
import { signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { providerRefusal, type WaysIn, waysIn } from '../../src/contract/people.ts';
import { kept } from '../address/kept.ts';
import { TextField, typed } from '../controls/field.tsx';
import { Form, useSubmit } from '../controls/form.tsx';
import { useTitle } from '../controls/page.tsx';
import { Problem, wordsOf } from '../controls/problem.tsx';
import { sets } from '../controls/sets.ts';
import { call, Refusal } from '../service/call.ts';
import { knowsPasskeys, signInByPasskey } from '../service/passkeys.ts';
import { signInAtProvider } from '../service/provider.ts';
import { enterAgain, isSpent, sessionProblem, signInByPassword } from '../service/session.ts';
import { t } from '../texts/texts.ts';
import { Alone } from './alone.tsx';
import { CurrentPassword } from './password-fields.tsx';

const workspace = kept('workspace');
/** ms to wait until the service says which ways to sign in there are; after that the form for a password is shown. */
const ANSWER_MS = 3_000;
/** Why single sign-on did not sign the person in: the code from the address (`#refused=…`). */
export const refused = signal<string | undefined>(undefined);

export function SignIn() {
  const { signIn: words } = t.value;
  const ways = useSignal<WaysIn | undefined>(undefined);
  // The form waits until the ways to sign in are known: buttons that came later would push its own button down.
  const asked = useSignal(false);
  useTitle(words.title);
  // The refusal must not be shown again after somebody has signed in and out.
  useEffect(
    () => () => {
      refused.value = undefined;
    },
    [],
  );
  useEffect(() => {
    const show = sets(asked, true);
    const late = setTimeout(show, ANSWER_MS);
    // Without an answer only the password is offered. Whoever tries it is shown the error.
    call(waysIn, '/sign-in')
      .then(
        (found) => {
          ways.value = found;
        },
        () => undefined,
      )
      .finally(show);
    return () => clearTimeout(late);
  }, []);
  const before = sessionProblem.value;
  const why = providerRefusal.safeParse(refused.value).data;
  const others = ways.value?.provider != null || (ways.value?.passkeys === true && knowsPasskeys());
  return (
    <Alone>
      <h1>{words.title}</h1>
      {why !== undefined && (
        <div class="note warn" role="alert">
          {words.refused[why]}
        </div>
      )}
      {isSpent(before) && (
        <div class="note warn" role="alert">
          {words.linkUsed}
        </div>
      )}
      {before !== undefined && !isSpent(before) && (
        <Problem problem={before} onRetry={() => void enterAgain()} />
      )}
      {others && ways.value !== undefined && (
        <>
          <OtherWays ways={ways.value} />
          <p class="or small muted">{words.or}</p>
        </>
      )}
      {asked.value && <ByPassword tenant={ways.value?.provider?.tenant} primary={!others} />}
      <p class="small muted">{words.byLink}</p>
    </Alone>
  );
}

function OtherWays({ ways: { provider, passkeys } }: { ways: WaysIn }) {
  const { signIn: words } = t.value;
  const atProvider = useSubmit(signInAtProvider);
  const byPasskey = useSubmit(signInByPasskey);
  const problem = atProvider.problem.value ?? byPasskey.problem.value;
  const busy = atProvider.busy.value || byPasskey.busy.value;
  return (
    <div class="stack">
      {provider !== null && (
        <button type="button" class="button primary" disabled={busy} onClick={atProvider.submit}>
          {words.atProvider(provider.name)}
        </button>
      )}
      {passkeys && knowsPasskeys() && (
        <button
          type="button"
          class={provider === null ? 'button primary' : 'button'}
          disabled={busy}
          onClick={byPasskey.submit}
        >
          {words.byPasskey}
        </button>
      )}
      {problem !== undefined && (
        <div class="note bad" role="alert">
          {wordsOfWay(problem)}
        </div>
      )}
    </div>
  );
}

function ByPassword({ tenant: usual, primary }: { tenant: string | undefined; primary: boolean }) {
  const { signIn: words } = t.value;
  const named = useSignal<string | undefined>(undefined);
  const login = useSignal('');
  const password = useSignal('');
  const tenant = named.value ?? (workspace.value || usual || 'default');
  return (
    <Form
      action={words.submit}
      primary={primary}
      wordsOf={wordsOfPassword}
      onAction={async () => {
        await signInByPassword(tenant.trim(), login.value, password.value);
        workspace.keep(tenant.trim());
      }}
    >
      <TextField
        label={words.workspace}
        value={tenant}
        required
        autocomplete="organization"
        onText={(text) => {
          named.value = text;
        }}
      />
      <TextField label={words.login} required autocomplete="username" {...typed(login)} />
      <CurrentPassword label={words.password} password={password} />
    </Form>
  );
}

function wordsOfPassword(error: Error): string {
  const { signIn: words } = t.value;
  if (!(error instanceof Refusal)) return wordsOf(error);
  if (error.status === 429) return words.tooOften;
  return error.status === 401 || error.status === 400 ? words.wrong : wordsOf(error);
}

function wordsOfWay(error: Error): string {
  const { signIn: words } = t.value;
  if (error.name === 'NotAllowedError') return words.passkeyNone;
  if (!(error instanceof Refusal)) return wordsOf(error);
  if (error.status === 429) return words.tooOften;
  if (error.code === 'provider-away') return words.refused['provider-away'];
  return error.code === 'passkey-refused' ? words.passkeyRefused : wordsOf(error);
}
