/** One webhook: its newest messages, what was answered, and which are sent again. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { z } from 'zod';
import {
  type WebhookMessage,
  type WebhookSecret,
  webhookMessage,
  webhookView,
} from '../../src/contract/webhook.ts';
import { to } from '../address/place.ts';
import { Menu } from '../controls/menu.tsx';
import { Empty, NotFound, Page, Shown } from '../controls/page.tsx';
import { Time } from '../controls/time.tsx';
import { shortId } from '../jobs/job-words.tsx';
import { ofTheTenant, useLive } from '../service/live.ts';
import { ofTenant } from '../service/session.ts';
import { t, when } from '../texts/texts.ts';
import { Question, Secret, type WebhookQuestion } from './new-webhook.tsx';
import { eventsWords, eventWords, WebhookState } from './webhooks.tsx';

/** ms after which messages are looked at again while one is about to be sent. */
const SOON = 2_000;

export function WebhookPage({ id }: { id: string }) {
  const { webhooks: words } = t.value;
  const { live, reload } = useLive(z.array(webhookView), ofTenant('/webhooks'), ofTheTenant);
  const messages = useLive(
    z.array(webhookMessage),
    ofTenant(`/webhooks/${encodeURIComponent(id)}/messages`),
    ({ jobs, printers }) => jobs.length + printers.length > 0,
  );
  const made = useSignal<WebhookSecret | null>(null);
  const asked = useSignal<WebhookQuestion | null>(null);
  const again = () => {
    reload();
    messages.reload();
  };
  const webhook = live.data?.find((one) => one.id === id);
  const ask = (about: WebhookQuestion['about'], message?: string) => {
    if (webhook !== undefined) asked.value = { about, webhook, ...(message !== undefined && { message }) };
  };
  const isDue = messages.live.data?.some(
    ({ dueAt, attempts }) =>
      dueAt !== null && (attempts.length === 0 || Date.parse(dueAt) < messages.live.at + SOON),
  );
  useEffect(() => {
    if (isDue !== true) return;
    const timer = setTimeout(again, SOON);
    return () => clearTimeout(timer);
  }, [isDue, messages.live.at]);
  return (
    <Page
      title={webhook === undefined ? words.one : new URL(webhook.url).host}
      crumb={{ words: words.title, href: to(['webhooks']) }}
      actions={
        webhook !== undefined && (
          <>
            <button type="button" class="button" onClick={() => ask('test')}>
              {words.test}
            </button>
            <button type="button" class="button" onClick={() => ask('replay')}>
              {words.replay}
            </button>
            <Menu
              about={webhook.url}
              items={[
                { words: words.rotate, onPick: () => ask('rotate') },
                { words: words.delete, bad: true, onPick: () => ask('delete') },
              ]}
            />
          </>
        )
      }
    >
      <Shown of={live} onRetry={reload}>
        {() =>
          webhook === undefined ? (
            <NotFound />
          ) : (
            <>
              <dl class="facts">
                <dt>{words.url}</dt>
                <dd class="mono small anywhere">{webhook.url}</dd>
                <dt>{words.events}</dt>
                <dd>{eventsWords(webhook)}</dd>
                <dt>{words.state}</dt>
                <dd>
                  <WebhookState webhook={webhook} />
                </dd>
              </dl>
              {webhook.disabled !== null && <p class="note bad">{words.disabledSays}</p>}
              <h2>{words.messages}</h2>
              <Shown of={messages.live} onRetry={messages.reload}>
                {(list) =>
                  list.length === 0 ? (
                    <Empty icon="webhooks" title={words.noMessage} hint={words.noMessageHint} />
                  ) : (
                    <Messages
                      messages={list}
                      rests={webhook.disabled !== null}
                      onAgain={(message) => ask('replay', message)}
                    />
                  )
                }
              </Shown>
            </>
          )
        }
      </Shown>
      {asked.value !== null && (
        <Question
          asked={asked.value}
          onMade={(secret) => {
            made.value = secret;
          }}
          onDone={() => {
            if (asked.value?.about === 'delete') location.hash = to(['webhooks']);
            else again();
          }}
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

type MessagesProps = {
  messages: readonly WebhookMessage[];
  /** Nothing is sent: the webhook is disabled. */
  rests: boolean;
  onAgain: (message: string) => void;
};

function Messages({ messages, rests, onAgain }: MessagesProps) {
  const { webhooks: words, general } = t.value;
  return (
    <div class="card flush">
      <table class="cards">
        <thead>
          <tr>
            <th>{words.event}</th>
            <th>{words.about}</th>
            <th>{words.at}</th>
            <th>{words.state}</th>
            <th>{words.answer}</th>
            <th>
              <span class="unseen">{general.more}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {messages.map((message) => (
            <tr key={message.id}>
              <td class="lead">{eventWords(message.event)}</td>
              <td data-label={words.about} class="mono small anywhere">
                <About message={message} />
              </td>
              <td data-label={words.at} class="nowrap muted">
                <Time at={message.at} />
              </td>
              <td data-label={words.state}>
                <MessageState message={message} rests={rests} />
              </td>
              <td data-label={words.answer} class="small anywhere">
                <Answer message={message} />
              </td>
              <td class="right">
                <Menu
                  about={`${eventWords(message.event)}, ${when(message.at)}`}
                  items={[{ words: words.again, onPick: () => onAgain(message.id) }]}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function About({ message: { job, printer } }: { message: WebhookMessage }) {
  if (job !== null) return <a href={to(['jobs', job])}>{shortId(job)}</a>;
  if (printer !== null) return <a href={to(['printers', printer])}>{shortId(printer)}</a>;
  return null;
}

function MessageState({
  message: { arrivedAt, dueAt, attempts },
  rests,
}: {
  message: WebhookMessage;
  rests: boolean;
}) {
  const { webhooks: words } = t.value;
  if (arrivedAt !== null) return <span class="badge good">{words.arrived}</span>;
  if (dueAt === null) return <span class="badge bad">{words.given}</span>;
  if (rests) return <span class="badge">{words.rests}</span>;
  if (attempts.length === 0) return <span class="badge busy">{words.underWay}</span>;
  return <span class="badge warn">{words.next(when(dueAt))}</span>;
}

/** The newest answer. Its text is a stranger's. */
function Answer({ message: { attempts } }: { message: WebhookMessage }) {
  const { webhooks: words } = t.value;
  const [last] = attempts;
  if (last === undefined) return null;
  return (
    <div class="stack hair">
      <div>
        {last.status ?? last.answer} <span class="muted">({words.ms(last.ms)})</span>
        {attempts.length > 1 && <span class="muted">, {words.attempts(attempts.length)}</span>}
      </div>
      {last.status !== null && last.answer !== '' && <div class="muted">{last.answer.slice(0, 200)}</div>}
    </div>
  );
}
