/** The page of a person's own account: colours, language, password, passkeys and signing out. */
import { useSignal } from '@preact/signals';
import { z } from 'zod';
import { ChoiceField } from '../controls/field.tsx';
import { Form, useSubmit } from '../controls/form.tsx';
import { Page } from '../controls/page.tsx';
import { wordsOf } from '../controls/problem.tsx';
import { say } from '../controls/toast.tsx';
import { call } from '../service/call.ts';
import { findSession, session, signOut } from '../service/session.ts';
import { chosenLanguage, t } from '../texts/texts.ts';
import { chosenColours } from './colours.ts';
import { Passkeys, wrongPassword } from './passkeys.tsx';
import { CurrentPassword, NewPassword } from './password-fields.tsx';

export function Account() {
  const { account: words, general, people } = t.value;
  const now = session.value;
  const here = useSubmit(() => signOut(false));
  const everywhere = useSubmit(() => signOut(true));
  const problem = here.problem.value ?? everywhere.problem.value;
  const busy = here.busy.value || everywhere.busy.value;
  if (!now) return null;
  return (
    <Page
      title={now.person.name}
      actions={
        <button type="button" class="button" disabled={busy} onClick={here.submit}>
          {words.signOut}
        </button>
      }
    >
      <div class="stack wide narrow">
        {problem !== undefined && (
          <div class="note bad" role="alert">
            <strong>{words.stillIn}</strong>
            <span>{wordsOf(problem)}</span>
          </div>
        )}
        <dl class="facts card">
          <dt>{words.workspace}</dt>
          <dd>{now.tenant.name}</dd>
          <dt>{words.role}</dt>
          <dd>
            {people.roles[now.person.role]}: {people.roleSays[now.person.role]}
          </dd>
        </dl>
        <section class="card stack">
          <ChoiceField
            label={general.colours}
            value={chosenColours.value}
            onChoice={(value) => chosenColours.keep(value)}
            options={[
              { value: '', words: general.asSystem },
              { value: 'light', words: general.light },
              { value: 'dark', words: general.dark },
            ]}
          />
          <ChoiceField
            label={general.language}
            value={chosenLanguage.value}
            onChoice={(value) => chosenLanguage.keep(value)}
            options={[
              { value: '', words: general.asSystem },
              { value: 'en', words: 'English' },
              { value: 'de', words: 'Deutsch' },
            ]}
          />
        </section>
        <Password has={now.person.hasPassword} />
        <Passkeys hasPassword={now.person.hasPassword} />
        <section class="card stack">
          <p>{words.everywhereHint}</p>
          <div class="row">
            <button type="button" class="button" disabled={busy} onClick={everywhere.submit}>
              {words.everywhere}
            </button>
          </div>
        </section>
      </div>
    </Page>
  );
}

function Password({ has }: { has: boolean }) {
  const { account: words, general } = t.value;
  const current = useSignal('');
  const next = useSignal('');
  return (
    <Form
      card
      action={general.save}
      onAction={async () => {
        const body = { password: next.value, ...(has ? { current: current.value } : {}) };
        await call(z.unknown(), '/session/password', { method: 'PUT', body });
        current.value = '';
        next.value = '';
        say(words.changed);
        await findSession();
      }}
      wordsOf={wrongPassword}
    >
      <h2>{has ? words.changePassword : words.setPassword}</h2>
      {has && <CurrentPassword label={words.current} password={current} />}
      <NewPassword label={words.next} hint={words.hint} password={next} />
    </Form>
  );
}
