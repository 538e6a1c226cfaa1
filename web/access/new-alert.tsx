/** The dialog that makes a receiver of alerts. */
import { useSignal } from '@preact/signals';
import { ALERT_FORMS, ALERTS, type AlertForm, alertMade } from '../../src/contract/alert.ts';
import { Ask } from '../controls/dialog.tsx';
import {
  Check,
  ChoiceField,
  Field,
  picked,
  SeveralField,
  TextField,
  ticked,
  typed,
} from '../controls/field.tsx';
import { say } from '../controls/toast.tsx';
import { call } from '../service/call.ts';
import { ofTenant } from '../service/session.ts';
import { t } from '../texts/texts.ts';

export function NewAlert({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const { alerts: words } = t.value;
  const form = useSignal<AlertForm>('mail');
  const address = useSignal('');
  const alerts = useSignal<readonly string[]>(ALERTS);
  const minutes = useSignal('5');
  const isQuiet = useSignal(false);
  const from = useSignal('22:00');
  const until = useSignal('06:00');
  const { timeZone: zone } = Intl.DateTimeFormat().resolvedOptions();
  const byMail = form.value === 'mail';
  return (
    <Ask
      title={words.createTitle}
      action={words.createSubmit}
      disabled={alerts.value.length === 0 || address.value.trim() === ''}
      onClose={onClose}
      onAction={async () => {
        const body = {
          form: form.value,
          to: address.value.trim(),
          alerts: alerts.value,
          minutes: Number(minutes.value),
          quiet: isQuiet.value ? { from: from.value, until: until.value, zone } : null,
        };
        await call(alertMade, ofTenant('/alerts'), { body });
        say(words.made);
        onMade();
      }}
    >
      <ChoiceField
        label={words.form}
        value={form.value}
        options={ALERT_FORMS.map((value) => ({ value, words: words.forms[value] }))}
        onChoice={(value) => {
          form.value = ALERT_FORMS.find((one) => one === value) ?? 'mail';
        }}
      />
      <TextField
        label={byMail ? words.address : words.chatAddress}
        hint={byMail ? undefined : form.value === 'chat' ? words.chatHint : words.teamsHint}
        required
        maxLength={byMail ? 254 : 2_000}
        autocomplete="off"
        placeholder={byMail ? 'hall@example.com' : 'https://'}
        {...typed(address)}
      />
      <SeveralField
        label={words.what}
        options={ALERTS.map((value) => ({ value, words: words.kinds[value] }))}
        {...picked(alerts)}
      />
      <TextField label={words.minutes} type="number" required min={1} max={1_440} {...typed(minutes)} />
      <Check label={words.quiet} {...ticked(isQuiet)} />
      {isQuiet.value && (
        <>
          <div class="row">
            {[
              { label: words.from, time: from },
              { label: words.until, time: until },
            ].map(({ label, time }) => (
              <Field key={label} label={label}>
                {(attributes) => (
                  <input
                    type="time"
                    class="input"
                    required
                    {...attributes}
                    value={time.value}
                    onInput={({ currentTarget: { value } }) => {
                      time.value = value;
                    }}
                  />
                )}
              </Field>
            ))}
          </div>
          <p class="hint">{words.quietHint(zone)}</p>
        </>
      )}
    </Ask>
  );
}
