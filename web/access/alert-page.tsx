/** The page of one receiver of alerts: which alerts it gets, and its newest messages. */
import { z } from 'zod';
import { alertView } from '../../src/contract/alert.ts';
import { ofTheTenant, useLive } from '../service/live.ts';
import { ofTenant } from '../service/session.ts';
import { codeWords, t } from '../texts/texts.ts';
import { After, kindsWords } from './alerts.tsx';
import { ReceiverPage } from './webhook-page.tsx';

export function AlertPage({ id }: { id: string }) {
  const { alerts: words } = t.value;
  const { live, reload } = useLive(z.array(alertView), ofTenant('/alerts'), ofTheTenant);
  const alert = live.data?.find((one) => one.id === id);
  return (
    <ReceiverPage
      list="alerts"
      id={id}
      title={alert?.to ?? words.one}
      live={live}
      reload={reload}
      receiver={alert && { ...alert, url: alert.to }}
      facts={
        alert !== undefined && (
          <>
            <dt>{words.form}</dt>
            <dd>{words.forms[alert.form]}</dd>
            <dt>{words.what}</dt>
            <dd>{kindsWords(alert)}</dd>
            <dt>{words.after}</dt>
            <dd>
              <After alert={alert} />
            </dd>
          </>
        )
      }
      eventWords={(event) => codeWords(words.events, event)}
    />
  );
}
