/** Words of the receivers of alerts. */
export const alertWords = {
  alerts: {
    title: 'Alerts',
    one: 'Receiver of alerts',
    hint: 'Who is told, by mail or in a chat, that something needs somebody, and that it does not any more.',
    empty: 'Nobody is told yet',
    emptyHint: 'A printer that stops at night is told to a mail address or to a channel of a chat.',
    create: 'Tell somebody …',
    createTitle: 'Tell somebody',
    createSubmit: 'Create',
    form: 'How',
    forms: { mail: 'Mail', chat: 'Slack or Mattermost', teams: 'Microsoft Teams' },
    to: 'To',
    address: 'Mail address',
    chatAddress: 'Address that the chat gave out',
    chatHint: 'The address of an incoming webhook. It is a secret: from now on only its host is shown.',
    teamsHint: 'The address of a workflow. It is a secret: from now on only its host is shown.',
    what: 'What',
    kinds: {
      'alert.printer': 'A printer needs somebody',
      'alert.held': 'Jobs wait for a decision',
      'alert.lane': 'Jobs wait at a printer that is ready',
      'alert.agent': 'An agent is away',
      'alert.secret': 'A secret ends soon',
    },
    events: { 'alert.begun': 'Something needs somebody', 'alert.over': 'It is over', 'webhook.test': 'Test' },
    after: 'After',
    minutes: 'Minutes that it has to last',
    minutesSay: (n: number) => (n === 1 ? 'one minute' : `${n.toLocaleString('en')} minutes`),
    quiet: 'Quiet hours',
    quietHint: (zone: string) =>
      `Nothing is told in them. What still lasts is told at their end. By the clocks of ${zone}.`,
    quietSays: (from: string, until: string) => `Quiet from ${from} to ${until}`,
    from: 'From',
    until: 'Until',
    made: 'Created. A test shows whether it arrives.',
    /** In place of the words of webhooks. */
    asks: {
      testSays: 'A message that says it is a test goes there.',
      deleteTitle: 'Tell them no more?',
    },
  },
};
