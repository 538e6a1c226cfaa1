/** The page Webhooks: the addresses that hear what became of jobs and printers, and the state of each. */
import { useSignal } from '@preact/signals';
import { z } from 'zod';
import {
  WEBHOOK_EVENTS,
  type WebhookSecret,
  type WebhookView,
  webhookView,
} from '../../src/contract/webhook.ts';
import { to } from '../address/place.ts';
import { CardTable } from '../controls/card-table.tsx';
import { Opens } from '../controls/opens.tsx';
import { Empty, Page, Shown } from '../controls/page.tsx';
import { ofTheTenant, useLive } from '../service/live.ts';
import { ofTenant } from '../service/session.ts';
import { listed, t, when } from '../texts/texts.ts';
import { Create, Question, Secret, type WebhookQuestion } from './new-webhook.tsx';

export function Webhooks() {
  const { webhooks: words } = t.value;
  const { live, reload } = useLive(z.array(webhookView), ofTenant('/webhooks'), ofTheTenant);
  const creating = useSignal(false);
  const made = useSignal<WebhookSecret | null>(null);
  const asked = useSignal<WebhookQuestion | null>(null);
  const show = (secret: WebhookSecret) => {
    made.value = secret;
    reload();
  };
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
          {(list) =>
            list.length === 0 ? (
              <Empty icon="webhooks" title={words.empty} hint={words.emptyHint}>
                {button}
              </Empty>
            ) : (
              <List
                webhooks={list}
                onAsk={(question) => {
                  asked.value = question;
                }}
              />
            )
          }
        </Shown>
      </div>
      {creating.value && (
        <Create
          onClose={() => {
            creating.value = false;
          }}
          onMade={show}
        />
      )}
      {asked.value !== null && (
        <Question
          asked={asked.value}
          list="webhooks"
          onMade={show}
          onDone={reload}
          onClose={() => {
            asked.value = null;
          }}
        />
      )}
      {made.value !== null && (
        <Secret
          made={made.value}
          onClose={() => {
            made.value = null;
          }}
        />
      )}
    </Page>
  );
}

type ListProps = { webhooks: readonly WebhookView[]; onAsk: (question: WebhookQuestion) => void };

function List({ webhooks, onAsk }: ListProps) {
  const { webhooks: words } = t.value;
  return (
    <CardTable
      rows={webhooks}
      keyOf={({ id }) => id}
      columns={[
        {
          title: words.url,
          lead: true,
          cell: ({ id, url }) => (
            <a class="row-link anywhere" href={to(['webhooks', id])}>
              {url}
            </a>
          ),
        },
        { title: words.events, cell: eventsWords },
        { title: words.state, cell: (webhook) => <WebhookState webhook={webhook} /> },
      ]}
      menu={(webhook) => ({
        about: webhook.url,
        items: [
          { words: words.test, onPick: () => onAsk({ about: 'test', webhook }) },
          { words: words.rotate, onPick: () => onAsk({ about: 'rotate', webhook }) },
          { words: words.delete, bad: true, onPick: () => onAsk({ about: 'delete', webhook }) },
        ],
      })}
    />
  );
}

/** A newer service may send an event that this page does not know; the page then shows its code. */
export function eventWords(event: string): string {
  const known: Readonly<Record<string, string>> = t.value.webhooks.eventWords;
  return known[event] ?? event;
}

export function eventsWords({ events }: WebhookView): string {
  const all = WEBHOOK_EVENTS.every((event) => events.includes(event));
  return all ? t.value.webhooks.all : listed(events.map(eventWords));
}

/** Amber: the service goes on trying by itself. Red: it sends nothing more until somebody tells it to. */
export function WebhookState({
  webhook: { disabled, failingSince },
}: {
  webhook: Pick<WebhookView, 'disabled' | 'failingSince'>;
}) {
  const { webhooks: words } = t.value;
  if (disabled !== null) {
    return (
      <div class="stack hair">
        <div>
          <span class="badge bad">{words.disabled}</span>
        </div>
        <div class="small muted">
          {disabled.why === 'gone' ? words.gone : words.gaveUp}, {when(disabled.at)}
        </div>
      </div>
    );
  }
  if (failingSince !== null) return <span class="badge warn">{words.failing(when(failingSince))}</span>;
  return <span class="badge good">{words.well}</span>;
}
