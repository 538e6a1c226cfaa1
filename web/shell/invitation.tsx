/** The page of an invitation, where the invited person chooses a password and is signed in. */
import { signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { InvitationView } from '../../src/contract/people.ts';
import { TextField, typed } from '../controls/field.tsx';
import { Form } from '../controls/form.tsx';
import { useTitle } from '../controls/page.tsx';
import { Problem } from '../controls/problem.tsx';
import { errorOf } from '../service/call.ts';
import { acceptInvitation, findSession, invitation, isSpent } from '../service/session.ts';
import { t } from '../texts/texts.ts';
import { Alone } from './alone.tsx';
import { NewPassword } from './password-fields.tsx';

export const invitationToken = signal<string | undefined>(undefined);

export function Invitation({ token }: { token: string }) {
  const { invitation: words, signIn, people } = t.value;
  const found = useSignal<InvitationView | undefined>(undefined);
  const problem = useSignal<Error | undefined>(undefined);
  const name = useSignal('');
  const password = useSignal('');
  useTitle(found.value === undefined ? signIn.title : words.title(found.value.tenant.name));
  const look = async () => {
    problem.value = undefined;
    try {
      found.value = await invitation(token);
      name.value = found.value.name;
    } catch (error) {
      problem.value = errorOf(error);
    }
  };
  useEffect(() => {
    void look();
  }, [token]);
  const leave = () => {
    invitationToken.value = undefined;
    void findSession();
  };
  const gone = found.value === undefined && isSpent(problem.value);
  return (
    <Alone>
      {found.value !== undefined && (
        <>
          <h1>{words.title(found.value.tenant.name)}</h1>
          <p>{words.as(found.value.login, people.roles[found.value.role])}</p>
          <Form
            action={words.submit}
            primary
            onAction={async () => {
              await acceptInvitation(token, password.value, name.value.trim());
              invitationToken.value = undefined;
            }}
          >
            <TextField label={words.name} autocomplete="name" {...typed(name)} />
            <NewPassword label={words.password} hint={words.hint} password={password} />
          </Form>
        </>
      )}
      {gone && (
        <>
          <div class="note warn" role="alert">
            {signIn.linkUsed}
          </div>
          <button type="button" class="button" onClick={leave}>
            {signIn.title}
          </button>
        </>
      )}
      {problem.value !== undefined && !gone && <Problem problem={problem.value} onRetry={look} />}
    </Alone>
  );
}
