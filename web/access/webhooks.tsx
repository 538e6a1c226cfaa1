/** The page Webhooks: the addresses that hear what became of jobs and printers, and the state of each. */
import { z } from 'zod';
import { WEBHOOK_EVENTS, type WebhookView, webhookView } from '../../src/contract/webhook.ts';
import { to } from '../address/place.ts';
import { CardTable } from '../controls/card-table.tsx';
import { ofTheTenant, useLive } from '../service/live.ts';
import { ofTenant } from '../service/session.ts';
import { codeWords, listed, t, when } from '../texts/texts.ts';
import { Create, type WebhookQuestion } from './new-webhook.tsx';
import { ReceiversPage } from './receivers-page.tsx';

export function Webhooks() {
  const { live, reload } = useLive(z.array(webhookView), ofTenant('/webhooks'), ofTheTenant);
  return (
    <ReceiversPage
      list="webhooks"
      live={live}
      reload={reload}
      create={(onClose, onSecret) => (
        <Create
          onClose={onClose}
          onMade={(secret) => {
            onSecret(secret);
            reload();
          }}
        />
      )}
    >
      {(webhooks, onAsk) => <List webhooks={webhooks} onAsk={onAsk} />}
    </ReceiversPage>
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

export function eventWords(event: string): string {
  return codeWords(t.value.webhooks.eventWords, event);
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
