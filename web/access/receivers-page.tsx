/** The page that lists webhooks or receivers of alerts, and makes new ones. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { WebhookSecret } from '../../src/contract/webhook.ts';
import { Opens } from '../controls/opens.tsx';
import { Empty, Page, Shown } from '../controls/page.tsx';
import type { Live } from '../service/live.ts';
import { t } from '../texts/texts.ts';
import { useQuestion, type WebhookQuestion } from './new-webhook.tsx';

type ReceiversProps<One> = {
  list: 'webhooks' | 'alerts';
  live: Live<One[]>;
  reload: () => void;
  /** The dialog that makes one; `onSecret` shows the secret of a new webhook. */
  create: (onClose: () => void, onSecret: (secret: WebhookSecret) => void) => ComponentChildren;
  children: (all: readonly One[], onAsk: (question: WebhookQuestion) => void) => ComponentChildren;
};

export function ReceiversPage<One>({ list, live, reload, create, children }: ReceiversProps<One>) {
  const words = t.value[list];
  const creating = useSignal(false);
  const { ask, showSecret, dialogs } = useQuestion(list, reload);
  const button = (
    <Opens what={creating} look="primary">
      {words.create}
    </Opens>
  );
  return (
    <Page title={words.title} actions={live.data !== undefined && button}>
      <div class="stack wide">
        <p class="muted">{words.hint}</p>
        <Shown of={live} onRetry={reload}>
          {(all) =>
            all.length === 0 ? (
              <Empty icon={list} title={words.empty} hint={words.emptyHint}>
                {button}
              </Empty>
            ) : (
              children(all, ask)
            )
          }
        </Shown>
      </div>
      {creating.value &&
        create(() => {
          creating.value = false;
        }, showSecret)}
      {dialogs}
    </Page>
  );
}
