/** The page Alerts: who gets a mail or a chat message when something needs a person. */
import { z } from 'zod';
import { ALERTS, type AlertView, alertView } from '../../src/contract/alert.ts';
import { to } from '../address/place.ts';
import { CardTable } from '../controls/card-table.tsx';
import { ofTheTenant, useLive } from '../service/live.ts';
import { ofTenant } from '../service/session.ts';
import { codeWords, listed, t } from '../texts/texts.ts';
import { NewAlert } from './new-alert.tsx';
import type { WebhookQuestion } from './new-webhook.tsx';
import { ReceiversPage } from './receivers-page.tsx';
import { WebhookState } from './webhooks.tsx';

export function Alerts() {
  const { live, reload } = useLive(z.array(alertView), ofTenant('/alerts'), ofTheTenant);
  return (
    <ReceiversPage
      list="alerts"
      live={live}
      reload={reload}
      create={(onClose) => <NewAlert onClose={onClose} onMade={reload} />}
    >
      {(alerts, onAsk) => (
        <List alerts={alerts} onAsk={(about, { id, to: url }) => onAsk({ about, webhook: { id, url } })} />
      )}
    </ReceiversPage>
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

export function kindsWords({ alerts }: AlertView): string {
  const all = ALERTS.every((kind) => alerts.includes(kind));
  return all ? t.value.webhooks.all : listed(alerts.map((kind) => codeWords(t.value.alerts.kinds, kind)));
}
