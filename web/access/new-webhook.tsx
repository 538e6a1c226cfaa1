/** Dialogs for webhooks: create one, show its secret once, and ask before anything is done to one. */
import { useSignal } from '@preact/signals';
import { z } from 'zod';
import {
  WEBHOOK_EVENTS,
  type WebhookSecret,
  type WebhookView,
  webhookReplayed,
  webhookSecret,
  webhookTested,
} from '../../src/contract/webhook.ts';
import { CopyButton } from '../controls/copy.tsx';
import { Ask, Dialog } from '../controls/dialog.tsx';
import { picked, SeveralField, TextField, typed } from '../controls/field.tsx';
import { sets } from '../controls/sets.ts';
import { say } from '../controls/toast.tsx';
import { call } from '../service/call.ts';
import { ofTenant } from '../service/session.ts';
import { t } from '../texts/texts.ts';

/** What a person is asked about a webhook. `message`: only this message is sent again. */
export type WebhookQuestion = {
  about: 'test' | 'rotate' | 'delete' | 'replay';
  webhook: Pick<WebhookView, 'id' | 'url'>;
  message?: string;
};

type CreateProps = { onClose: () => void; onMade: (secret: WebhookSecret) => void };

export function Create({ onClose, onMade }: CreateProps) {
  const { webhooks: words } = t.value;
  const url = useSignal('');
  const events = useSignal<readonly string[]>(WEBHOOK_EVENTS);
  return (
    <Ask
      title={words.createTitle}
      action={words.createSubmit}
      disabled={events.value.length === 0 || url.value.trim() === ''}
      onClose={onClose}
      onAction={async () => {
        const body = { url: url.value.trim(), events: events.value };
        onMade(await call(webhookSecret, ofTenant('/webhooks'), { body }));
      }}
    >
      <TextField
        label={words.url}
        hint={words.urlHint}
        required
        maxLength={2_000}
        autocomplete="off"
        placeholder="https://wms.example.com/platen"
        {...typed(url)}
      />
      <SeveralField
        label={words.events}
        options={WEBHOOK_EVENTS.map((value) => ({ value, words: words.eventWords[value] }))}
        {...picked(events)}
      />
    </Ask>
  );
}

function Secret({ made, onClose }: { made: WebhookSecret; onClose: () => void }) {
  const { webhooks: words, integrations } = t.value;
  return (
    <Dialog title={integrations.createdTitle} stays closes={integrations.done} onClose={onClose}>
      <p class="note warn">{words.secretSays}</p>
      <dl class="facts secret">
        <dt>{words.secret}</dt>
        <dd class="row">
          <code class="anywhere">{made.secret}</code>
          <CopyButton text={made.secret} about={words.secret} />
        </dd>
      </dl>
    </Dialog>
  );
}

/**
 * Asks before something is done to a webhook or a receiver of alerts, and shows the secret that comes of it.
 * @param onDone hears what was done
 */
export function useQuestion(list: 'webhooks' | 'alerts', onDone: (about: WebhookQuestion['about']) => void) {
  const asked = useSignal<WebhookQuestion | null>(null);
  const made = useSignal<WebhookSecret | null>(null);
  const showSecret = (secret: WebhookSecret) => {
    made.value = secret;
  };
  return {
    ask: (question: WebhookQuestion) => {
      asked.value = question;
    },
    showSecret,
    dialogs: (
      <>
        {asked.value !== null && (
          <Question
            asked={asked.value}
            list={list}
            onMade={showSecret}
            onDone={onDone}
            onClose={sets(asked, null)}
          />
        )}
        {made.value !== null && <Secret made={made.value} onClose={sets(made, null)} />}
      </>
    ),
  };
}

type QuestionProps = {
  asked: WebhookQuestion;
  onMade: (secret: WebhookSecret) => void;
  onDone: (about: WebhookQuestion['about']) => void;
  onClose: () => void;
  list: 'webhooks' | 'alerts';
};

function Question({ asked: { about, webhook, message }, list, onMade, onDone, onClose }: QuestionProps) {
  const words = { ...t.value.webhooks, ...(list === 'alerts' && t.value.alerts.asks) };
  const path = ofTenant(`/webhooks/${encodeURIComponent(webhook.id)}`);
  const { title, hint, submit, act } = {
    test: {
      title: words.testTitle,
      hint: words.testSays,
      submit: words.testSubmit,
      act: async () => {
        await call(webhookTested, `${path}/test`, { method: 'POST' });
        say(words.testSent);
      },
    },
    replay: {
      title: words.replayTitle,
      hint: message === undefined ? words.replaySays : words.replayOneSays,
      submit: words.replaySubmit,
      act: async () => {
        const body = message === undefined ? {} : { message };
        say(words.replayed((await call(webhookReplayed, `${path}/replay`, { body })).messages));
      },
    },
    rotate: {
      title: words.rotateTitle,
      hint: words.rotateSays,
      submit: words.rotate,
      act: async () => onMade(await call(webhookSecret, `${path}/secret`, { method: 'POST' })),
    },
    delete: {
      title: words.deleteTitle,
      hint: words.deleteSays,
      submit: words.delete,
      act: async () => void (await call(z.unknown(), path, { method: 'DELETE' })),
    },
  }[about];
  return (
    <Ask
      title={title}
      action={submit}
      danger={about === 'delete'}
      onClose={onClose}
      onAction={async () => {
        await act();
        onDone(about);
      }}
    >
      <p class="mono small anywhere">{webhook.url}</p>
      <p>{hint}</p>
    </Ask>
  );
}
