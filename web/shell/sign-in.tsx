/** Who is not signed in: by password here, or by a link that was opened. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { kept } from '../address/kept.ts';
import { TextField } from '../controls/field.tsx';
import { Problem, wordsOf } from '../controls/problem.tsx';
import { Refusal } from '../service/call.ts';
import { findSession, sessionProblem, signInByPassword } from '../service/session.ts';
import { t } from '../texts/texts.ts';

const workspace = kept('workspace');

export function SignIn() {
  const { signIn: words, general } = t.value;
  const tenant = useSignal(workspace.value || 'default');
  const login = useSignal('');
  const password = useSignal('');
  const problem = useSignal<Error | undefined>(undefined);
  const busy = useSignal(false);
  useEffect(() => {
    document.title = `${words.title} · ${general.product}`;
  });
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    busy.value = true;
    problem.value = undefined;
    try {
      await signInByPassword(tenant.value.trim(), login.value, password.value);
      workspace.keep(tenant.value.trim());
    } catch (error) {
      problem.value = refused(error);
    }
    busy.value = false;
  };
  const before = sessionProblem.value;
  return (
    <main class="alone">
      <div class="alone-card">
        <div class="brand">
          <img src="icon.svg" alt="" />
          {general.product}
        </div>
        <h1>{words.title}</h1>
        {before instanceof Refusal && (
          <div class="note warn" role="alert">
            {before.status < 500 ? words.linkUsed : wordsOf(before)}
          </div>
        )}
        {before !== undefined && !(before instanceof Refusal) && (
          <Problem problem={before} onRetry={() => void findSession()} />
        )}
        <form class="stack" onSubmit={submit}>
          <TextField
            label={words.workspace}
            value={tenant.value}
            required
            autocomplete="organization"
            onText={(text) => {
              tenant.value = text;
            }}
          />
          <TextField
            label={words.login}
            value={login.value}
            required
            autocomplete="username"
            onText={(text) => {
              login.value = text;
            }}
          />
          <TextField
            label={words.password}
            type="password"
            value={password.value}
            required
            autocomplete="current-password"
            onText={(text) => {
              password.value = text;
            }}
          />
          {problem.value !== undefined && (
            <div class="note bad" role="alert">
              {problem.value.message}
            </div>
          )}
          <button type="submit" class="button primary" disabled={busy.value}>
            {words.submit}
          </button>
        </form>
        <p class="small muted">{words.byLink}</p>
      </div>
    </main>
  );
}

function refused(error: unknown): Error {
  const { signIn: words } = t.value;
  if (!(error instanceof Refusal))
    return error instanceof Error ? new Error(wordsOf(error)) : new Error(String(error));
  if (error.status === 429) return new Error(words.tooOften);
  return error.status === 401 || error.status === 400 ? new Error(words.wrong) : new Error(wordsOf(error));
}
