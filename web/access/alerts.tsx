/** The page Alerts: who gets a mail or a chat message when something needs a person. */
import { useSignal } from '@preact/signals';
import { z } from 'zod';
import { ALERTS, type AlertView, alertView } from '../../src/contract/alert.ts';
import { to } from '../address/place.ts';
import { CardTable } from '../controls/card-table.tsx';
import { Opens } from '../controls/opens.tsx';
import { Empty, Page, Shown } from '../controls/page.tsx';
import { ofTheTenant, useLive } from '../service/live.ts';
import { ofTenant } from '../service/session.ts';
import { listed, t } from '../texts/texts.ts';
import { NewAlert } from './new-alert.tsx';
import { Question, type WebhookQuestion } from './new-webhook.tsx';
import { WebhookState } from './webhooks.tsx';

export function Alerts() {
  const { alerts: words } = t.value;
  const { live, reload } = useLive(z.array(alertView), ofTenant('/alerts'), ofTheTenant);
  const creating = useSignal(false);
  const asked = useSignal<WebhookQuestion | null>(null);
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
              <Empty icon="alerts" title={words.empty} hint={words.emptyHint}>
                {button}
              </Empty>
            ) : (
              <List
                alerts={list}
                onAsk={(about, { id, to: url }) => {
                  asked.value = { about, webhook: { id, url } };
                }}
              />
            )
          }
        </Shown>
      </div>
      {creating.value && (
        <NewAlert
          onClose={() => {
            creating.value = false;
          }}
          onMade={reload}
        />
      )}
      {asked.value !== null && (
        <Question
          asked={asked.value}
          list="alerts"
          onMade={reload}
          onDone={reload}
          onClose={() => {
            asked.value = null;
          }}
        />
      )}
    </Page>
  );
}

type ListProps = {
  alerts: readonly AlertView[];
  onAsk: (about: WebhookQuestion['about'], alert: AlertView) => void;
};

function List({ alerts, onAsk }: ListProps) {
  const { alerts: words, webhooks } = t.value;
  return (
    <CardTable
      rows={alerts}
      keyOf={({ id }) => id}
      columns={[
        {
          title: words.to,
          lead: true,
          cell: (alert) => (
            <>
              <a class="row-link anywhere" href={to(['alerts', alert.id])}>
                {alert.to}
              </a>
              <div class="small muted">{words.forms[alert.form]}</div>
            </>
          ),
        },
        { title: words.what, cell: kindsWords },
        { title: words.after, cell: (alert) => <After alert={alert} /> },
        { title: webhooks.state, cell: (alert) => <WebhookState webhook={alert} /> },
      ]}
      menu={(alert) => ({
        about: alert.to,
        items: [
          { words: webhooks.test, onPick: () => onAsk('test', alert) },
          { words: webhooks.delete, bad: true, onPick: () => onAsk('delete', alert) },
        ],
      })}
    />
  );
}

export function After({ alert: { minutes, quiet } }: { alert: AlertView }) {
  const { alerts: words } = t.value;
  return (
    <div>
      {words.minutesSay(minutes)}
      {quiet !== null && (
        <div class="small muted" title={quiet.zone}>
          {words.quietSays(quiet.from, quiet.until)}
        </div>
      )}
    </div>
  );
}

/** A newer service may send a kind that this page does not know; the page then shows its code. */
function kindWords(kind: string): string {
  const known: Readonly<Record<string, string>> = t.value.alerts.kinds;
  return known[kind] ?? kind;
}

export function kindsWords({ alerts }: AlertView): string {
  const all = ALERTS.every((kind) => alerts.includes(kind));
  return all ? t.value.webhooks.all : listed(alerts.map(kindWords));
}
