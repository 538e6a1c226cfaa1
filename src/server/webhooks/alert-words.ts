/** An alert as people read it. Names are strangers' texts: none may be a link, a mark-up or a call to a channel. */
import type { Alert, AlertForm, AlertItem, AlertSaid } from '../../contract/alert.ts';

const LONGEST_NAME = 80;
/** U+200B: nothing to see, and the end of a word. */
const BREAK = '\u200b';

/** `null`: a test. */
export function alertText(said: AlertSaid | null): { title: string; lines: string[] } {
  if (said === null)
    return { title: 'Platen: a test', lines: ['Alerts arrive here. Nothing needs somebody.'] };
  const { isOver, count, items } = said;
  const [first] = items;
  const title =
    count === 1 && first !== undefined
      ? sentenceOf(first, isOver)
      : isOver
        ? `${count} things do not need somebody any more`
        : `${count} things need somebody`;
  const lines = items.map((item) => `${sentenceOf(item, isOver)}, since ${clock(item.since)}`);
  if (count > items.length) lines.push(`and ${count - items.length} more`);
  return { title: `Platen: ${title}`, lines };
}

const SENTENCES: Readonly<Record<Alert, (item: AlertItem) => readonly [begun: string, over: string]>> = {
  'alert.printer': ({ name, reasons }) => [
    `printer ${shown(name)} needs somebody${reasons.length === 0 ? '' : ` (${reasons.map(words).join(', ')})`}`,
    `printer ${shown(name)} does not need somebody any more`,
  ],
  'alert.held': ({ name, count }) => [
    `${count === 1 ? 'a job is' : `${count} jobs are`} held at ${shown(name)}: say which labels are out`,
    `no job is held at ${shown(name)} any more`,
  ],
  'alert.lane': ({ name }) => [
    `jobs wait too long at ${shown(name)}, though it is ready`,
    `jobs do not wait too long at ${shown(name)} any more`,
  ],
  'alert.agent': ({ name }) => [`agent ${shown(name)} is away`, `agent ${shown(name)} is there again`],
  'alert.update': ({ name, reasons: [version = ''] }) => [
    `agent ${shown(name)} could not be updated to ${shown(version)}: the version before runs again`,
    `agent ${shown(name)} is being updated again`,
  ],
  'alert.certificate': ({ name, endsAt }) => [
    `the certificate of ${shown(name)} is good until ${clock(endsAt)}, and nobody has renewed it`,
    `the certificate of ${shown(name)} is renewed`,
  ],
  'alert.secret': ({ name, endsAt }) => [
    `the old secret of ${shown(name)} works until ${clock(endsAt)}`,
    `the old secret of ${shown(name)} has ended`,
  ],
};

function sentenceOf(item: AlertItem, isOver: boolean): string {
  return SENTENCES[item.kind](item)[isOver ? 1 : 0];
}

function words(reason: string): string {
  return shown(reason).replaceAll('-', ' ');
}

function clock(at: string | null): string {
  if (at === null) return 'a time that is not known';
  return `${at.slice(0, 16).replace('T', ' ')} UTC`;
}

/** A stranger's text on one line. */
function shown(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return line.length > LONGEST_NAME ? `${line.slice(0, LONGEST_NAME)}…` : line;
}

/** No mark-up, no link, and nobody is called by their name. */
function inert(text: string): string {
  return text.replaceAll(
    /[@[\]()*_~`#|!]|:\/\/|www\./g,
    (mark) => `${mark.slice(0, 1)}${BREAK}${mark.slice(1)}`,
  );
}

/** The body for a chat. */
export function chatBody(form: Exclude<AlertForm, 'mail'>, said: AlertSaid | null): string {
  const { title, lines } = alertText(said);
  if (form === 'chat') {
    // Slack's own escapes, which Mattermost reads as well.
    const text = [title, ...lines].map(inert).join('\n');
    const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    return JSON.stringify({ text: escaped });
  }
  const block = (text: string, more: object = {}) => ({
    type: 'TextBlock',
    text: inert(text),
    wrap: true,
    ...more,
  });
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    ...{ type: 'AdaptiveCard', version: '1.4' },
    body: [block(title, { weight: 'Bolder' }), ...lines.map((line) => block(line))],
  };
  return JSON.stringify({
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content }],
  });
}
