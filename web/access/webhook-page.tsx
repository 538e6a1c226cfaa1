/** The page of one webhook: its newest messages, the answers to them, and which are sent again. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { z } from 'zod';
import { type PrinterView, printerView } from '../../src/contract/printer-view.ts';
import {
  type WebhookMessage,
  type WebhookView,
  webhookMessage,
  webhookView,
} from '../../src/contract/webhook.ts';
import { to } from '../address/place.ts';
import { CardTable } from '../controls/card-table.tsx';
import { Menu } from '../controls/menu.tsx';
import { Empty, NotFound, Page, Shown } from '../controls/page.tsx';
import { Time } from '../controls/time.tsx';
import { shortId } from '../jobs/job-words.tsx';
import { type Live, ofTheTenant, useLive } from '../service/live.ts';
import { ofTenant } from '../service/session.ts';
import { codeWords, t, when } from '../texts/texts.ts';
import { useQuestion, type WebhookQuestion } from './new-webhook.tsx';
import { eventsWords, eventWords, WebhookState } from './webhooks.tsx';

/** ms between requests for the messages while one of them is about to be sent. */
const SOON = 2_000;

export function WebhookPage({ id }: { id: string }) {
  const { webhooks: words } = t.value;
  const { live, reload } = useLive(z.array(webhookView), ofTenant('/webhooks'), ofTheTenant);
  const webhook = live.data?.find((one) => one.id === id);
  return (
    <ReceiverPage
      list="webhooks"
      id={id}
      title={webhook === undefined ? words.one : new URL(webhook.url).host}
      live={live}
      reload={reload}
      receiver={webhook}
      facts={
        webhook !== undefined && (
          <>
            <dt>{words.url}</dt>
            <dd class="mono small anywhere">{webhook.url}</dd>
            <dt>{words.events}</dt>
            <dd>{eventsWords(webhook)}</dd>
          </>
        )
      }
      eventWords={eventWords}
      hasSecret
    />
  );
}

type ReceiverProps = {
  /** The page that lists all receivers of this kind. */
  list: 'webhooks' | 'alerts';
  id: string;
  title: string;
  live: Live<unknown>;
  reload: () => void;
  /** undefined: no receiver has this ID, or the page does not know yet. */
  receiver: Pick<WebhookView, 'id' | 'url' | 'disabled' | 'failingSince'> | undefined;
  facts: ComponentChildren;
  eventWords: (event: string) => string;
  hasSecret?: boolean;
};

/** The page of a webhook or of a receiver of alerts: its state and its messages. */
export function ReceiverPage({
  list,
  id,
  title,
  live,
  reload,
  receiver,
  facts,
  eventWords,
  hasSecret = false,
}: ReceiverProps) {
  const { webhooks: words, nav } = t.value;
  const messages = useLive(
    z.array(webhookMessage),
    ofTenant(`/webhooks/${encodeURIComponent(id)}/messages`),
    ({ jobs, printers }) => jobs.length + printers.length > 0,
  );
  const again = () => {
    reload();
    messages.reload();
  };
  const question = useQuestion(list, (about) => {
    if (about === 'delete') location.hash = to([list]);
    else again();
  });
  const ask = (about: WebhookQuestion['about'], message?: string) => {
    if (receiver !== undefined)
      question.ask({ about, webhook: receiver, ...(message !== undefined && { message }) });
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
      title={title}
      crumb={{ words: nav[list], href: to([list]) }}
      actions={
        receiver !== undefined && (
          <>
            <button type="button" class="button" onClick={() => ask('test')}>
              {words.test}
            </button>
            <button type="button" class="button" onClick={() => ask('replay')}>
              {words.replay}
            </button>
            <Menu
              about={receiver.url}
              items={[
                ...(hasSecret ? [{ words: words.rotate, onPick: () => ask('rotate') }] : []),
                { words: words.delete, bad: true, onPick: () => ask('delete') },
              ]}
            />
          </>
        )
      }
    >
      <Shown of={live} onRetry={reload}>
        {() =>
          receiver === undefined ? (
            <NotFound />
          ) : (
            <>
              <dl class="facts">
                {facts}
                <dt>{words.state}</dt>
                <dd>
                  <WebhookState webhook={receiver} />
                </dd>
              </dl>
              {receiver.disabled !== null && <p class="note bad">{words.disabledSays}</p>}
              <h2>{words.messages}</h2>
              <Shown of={messages.live} onRetry={messages.reload}>
                {(sent) =>
                  sent.length === 0 ? (
                    <Empty icon={list} title={words.noMessage} hint={words.noMessageHint} />
                  ) : (
                    <Messages
                      messages={sent}
                      eventWords={eventWords}
                      rests={receiver.disabled !== null}
                      onAgain={(message) => ask('replay', message)}
                    />
                  )
                }
              </Shown>
            </>
          )
        }
      </Shown>
      {question.dialogs}
    </Page>
  );
}

type MessagesProps = {
  messages: readonly WebhookMessage[];
  eventWords: (event: string) => string;
  /** The webhook is disabled, so nothing is sent. */
  rests: boolean;
  onAgain: (message: string) => void;
};

function Messages({ messages, eventWords, rests, onAgain }: MessagesProps) {
  const { webhooks: words } = t.value;
  const printers = useLive(z.array(printerView), '/printers', () => false).live.data ?? [];
  return (
    <CardTable
      rows={messages}
      keyOf={({ id }) => id}
      columns={[
        { title: words.event, lead: true, cell: ({ event }) => eventWords(event) },
        {
          title: words.about,
          look: 'small anywhere',
          cell: (message) => <About message={message} printers={printers} />,
        },
        { title: words.at, look: 'nowrap muted', cell: ({ at }) => <Time at={at} /> },
        { title: words.state, cell: (message) => <MessageState message={message} rests={rests} /> },
        { title: words.answer, look: 'small anywhere', cell: (message) => <Answer message={message} /> },
      ]}
      menu={(message) => ({
        about: `${eventWords(message.event)}, ${when(message.at)}`,
        items: [{ words: words.again, onPick: () => onAgain(message.id) }],
      })}
    />
  );
}

function About({
  message: { job, printer },
  printers,
}: {
  message: WebhookMessage;
  printers: readonly PrinterView[];
}) {
  if (job !== null)
    return (
      <a class="mono" href={to(['jobs', job])}>
        {shortId(job)}
      </a>
    );
  if (printer === null) return null;
  const name = printers.find(({ id }) => id === printer)?.name;
  return (
    <a href={to(['printers', printer])} class={name === undefined ? 'mono' : ''} title={printer}>
      {name ?? shortId(printer)}
    </a>
  );
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

/** Why there was no answer. The service gives a system's error code, for which there may be words, or a sentence. */
function unanswered(why: string): string {
  return codeWords(t.value.webhooks.unanswered, why);
}

/** The newest answer. Its text comes from a stranger's server. */
function Answer({ message: { attempts } }: { message: WebhookMessage }) {
  const { webhooks: words } = t.value;
  const [last] = attempts;
  if (last === undefined) return null;
  return (
    <div class="stack hair">
      <div>
        {last.status ?? unanswered(last.answer)} <span class="muted">({words.ms(last.ms)})</span>
        {attempts.length > 1 && <span class="muted">, {words.attempts(attempts.length)}</span>}
      </div>
      {last.status !== null && last.answer !== '' && <div class="muted">{last.answer.slice(0, 200)}</div>}
    </div>
  );
}
