/** German words of the receivers of alerts. */
import type { Texts } from '../en.ts';

export const alertWords: Pick<Texts, 'alerts'> = {
  alerts: {
    title: 'Meldungen',
    one: 'Empfänger von Meldungen',
    hint: 'Wer per Mail oder im Chat erfährt, dass etwas jemanden braucht, und dass es vorbei ist.',
    empty: 'Noch erfährt niemand etwas',
    emptyHint: 'Bleibt nachts ein Drucker stehen, erfährt es eine Mailadresse oder ein Kanal eines Chats.',
    create: 'Jemandem melden …',
    createTitle: 'Jemandem melden',
    createSubmit: 'Anlegen',
    form: 'Wie',
    forms: { mail: 'Mail', chat: 'Slack oder Mattermost', teams: 'Microsoft Teams' },
    to: 'An',
    address: 'Mailadresse',
    chatAddress: 'Adresse, die der Chat ausgegeben hat',
    chatHint:
      'Die Adresse eines eingehenden Webhooks. Sie ist geheim: ab jetzt wird nur ihr Rechner angezeigt.',
    teamsHint: 'Die Adresse eines Workflows. Sie ist geheim: ab jetzt wird nur ihr Rechner angezeigt.',
    what: 'Was',
    kinds: {
      'alert.printer': 'Ein Drucker braucht jemanden',
      'alert.held': 'Aufträge sind zu entscheiden',
      'alert.lane': 'Aufträge warten an einem bereiten Drucker',
      'alert.agent': 'Ein Agent ist weg',
      'alert.update': 'Ein Update eines Agenten ging zurück',
      'alert.certificate': 'Das Zertifikat des Dienstes endet bald',
      'alert.secret': 'Ein Geheimnis endet bald',
    },
    events: {
      'alert.begun': 'Etwas braucht jemanden',
      'alert.over': 'Es ist vorbei',
      'webhook.test': 'Probe',
    },
    after: 'Nach',
    minutes: 'Minuten, die es dauern muss',
    minutesSay: (n) => (n === 1 ? 'eine Minute' : `${n.toLocaleString('de')} Minuten`),
    quiet: 'Ruhezeit',
    quietHint: (zone) =>
      `In ihr wird nichts gemeldet. Was dann noch andauert, wird an ihrem Ende gemeldet. Nach der Uhr von ${zone}.`,
    quietSays: (from, until) => `Ruhe von ${from} bis ${until}`,
    from: 'Von',
    until: 'Bis',
    made: 'Angelegt. Ob es ankommt, zeigt eine Probe.',
    asks: {
      testSays: 'Dorthin geht eine Nachricht, die sagt, dass sie eine Probe ist.',
      deleteTitle: 'Dort nichts mehr melden?',
    },
  },
};
